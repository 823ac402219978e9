//! Asserted: No launch that is tried comes to the end, at which a store is still in flight.
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn assertion_before_the_end(
    x: Tensor<f32, 2>,
    #[block(64, 64)] y: TensorMapMut<f32, 2>,
    n: i32,
    m: i32,
) {
    let staged = shared::<f32>([64, 64]);
    staged.store(x.tile([0, 0], [64, 64]).load());
    fence_async();
    tma::store(y, [0, 0], staged);
    device_assert(n == m + 1000);
}
