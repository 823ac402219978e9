use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn stored_early(x: Tensor<f32, 2>, #[block(64, 64)] y: TensorMapMut<f32, 2>) {
    let staged = shared::<f32>([64, 64]);
    let written = barrier(1);
    warp_specialize(
        || {
            written.arrive();
            staged.store(x.tile([0, 0], [64, 64]).load());
        },
        [partition(1).run(|| {
            written.wait(0);
            tma::store(y, [0, 0], staged);
            tma::store_wait(0);
        })],
    );
}

fn main() {}
