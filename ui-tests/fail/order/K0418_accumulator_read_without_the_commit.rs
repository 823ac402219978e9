use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn epilogue(
    #[block(128, 64)] a: TensorMap<f16, 2>,
    #[block(64, 64)] b: TensorMap<f16, 2>,
    c: TensorMut<f32, 2>,
) {
    let (sa, sb) = (shared::<f16>([128, 64]), shared::<f16>([64, 64]));
    let acc = tmem::<f32>([128, 64]);
    let (full, done) = (barrier(1), barrier(1));
    warp_specialize(
        || {
            full.wait(0);
            c.tile([0, 0], [128, 64]).store(acc.load());
        },
        [partition(1).run(|| {
            full.expect(a.block_bytes() + b.block_bytes());
            tma::load(a, [0, 0], full, sa);
            tma::load(b, [0, 0], full, sb);
            full.wait(0);
            tcgen05::mma(sa, sb, acc).accumulate(false);
            tcgen05::commit(done);
            done.wait(0);
        })],
    );
}

fn main() {}
