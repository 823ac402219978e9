//! Chosen: Right where one extent is the other one divided by 64.
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn extents_that_go_together(x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
    let (row, full) = (shared::<f32>([1, 64]), barrier(1));
    warp_specialize(
        || {
            if y.dim(0) / 2 * 2 == y.dim(0) {
                full.wait(0);
                y.tile([0, 0], [1, 64]).store(row.load());
            }
        },
        [partition(1).run(|| {
            if x.dim(1) % 128 == 0 {
                row.store(x.tile([0, 0], [1, 64]).load());
                full.arrive();
            }
        })],
    );
}
