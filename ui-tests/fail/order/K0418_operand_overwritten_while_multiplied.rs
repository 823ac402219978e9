use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn two_steps(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f32, 2>) {
    let (sa, sb) = (shared::<f16>([128, 64]), shared::<f16>([64, 64]));
    let acc = tmem::<f32>([128, 64]);
    let (full, done) = (barrier(1), barrier(1));
    warp_specialize(
        || {
            for k in 0..2 {
                sa.store(a.tile([0, 64 * k], [128, 64]).load());
                sb.store(b.tile([64 * k, 0], [64, 64]).load());
                full.arrive();
            }
            done.wait(0);
            c.tile([0, 0], [128, 64]).store(acc.load());
        },
        [partition(1).run(|| {
            for k in 0..2 {
                full.wait(k);
                tcgen05::mma(sa, sb, acc).accumulate(k > 0);
            }
            tcgen05::commit(done);
        })],
    );
}

fn main() {}
