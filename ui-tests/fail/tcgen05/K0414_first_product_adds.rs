use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn product(
    #[block(128, 64)] a: TensorMap<bf16, 2>,
    #[block(128, 64)] b: TensorMap<bf16, 2>,
    c: TensorMut<f32, 2>,
) {
    let (sa, sb) = (shared::<bf16>([128, 64]), shared::<bf16>([128, 64]));
    let sums = tmem::<f32>([128, 128]);
    let (full, done) = (barrier(1), barrier(1));
    let mut phase = 0;
    for k in range(0, a.dim(1), 64) {
        full.expect(a.block_bytes() + b.block_bytes());
        tma::load(a, [0, k], full, sa);
        tma::load(b, [0, k], full, sb);
        full.wait(phase);
        tcgen05::mma(sa, sb.t(), sums);
        tcgen05::commit(done);
        done.wait(phase);
        phase ^= 1;
    }
    c.tile([0, 0], [128, 128]).store(sums.load());
}

fn main() {}
