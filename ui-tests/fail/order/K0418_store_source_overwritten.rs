use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn stored_by_another(x: Tensor<f32, 2>, #[block(64, 64)] y: TensorMapMut<f32, 2>) {
    let staged = shared::<f32>([64, 64]);
    let (full, empty) = (barrier(1), barrier(1));
    warp_specialize(
        || {
            for step in 0..4 {
                empty.wait(1 - step % 2);
                staged.store(x.tile([64 * step, 0], [64, 64]).load());
                fence_async();
                full.arrive();
            }
        },
        [partition(1).run(|| {
            for step in 0..4 {
                full.wait(step % 2);
                tma::store(y, [64 * step, 0], staged);
                empty.arrive();
            }
            tma::store_wait(0);
        })],
    );
}

fn main() {}
