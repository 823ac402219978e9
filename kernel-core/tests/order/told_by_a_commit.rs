//! Unannounced: The same of a commit.
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn told_by_a_commit(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    c: TensorMut<f32, 2>,
    z: Tensor<f32, 2>,
    y: TensorMut<f32, 2>,
) {
    let (sa, sb) = (shared::<f16>([128, 64]), shared::<f16>([64, 64]));
    let (acc, side) = (tmem::<f32>([128, 64]), shared::<f32>([1, 64]));
    let (full, done) = (barrier(1), barrier(1));
    warp_specialize(
        || {
            sa.store(a.tile([0, 0], [128, 64]).load());
            sb.store(b.tile([0, 0], [64, 64]).load());
            full.arrive();
            done.wait(0);
            c.tile([0, 0], [128, 64]).store(acc.load());
            y.tile([0, 0], [1, 64]).store(side.load());
        },
        [partition(1).run(|| {
            full.wait(0);
            side.store(z.tile([0, 0], [1, 64]).load());
            sync();
            tcgen05::mma(sa, sb, acc).accumulate(false);
            tcgen05::commit(done);
        })],
    );
}
