//! What a partition wrote is fenced before the partition ends: behind the join other warps copy it by tensor map.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: f32[64, 32] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg b: f32[64, 32] poison
//@ expect b: a(i, j) + 1
use kiln::prelude::*;

#[kernel(target = [sm_90a, sm_100a], warps = 4, grid = 1)]
pub fn partition_writes(a: Tensor<f32, 2>, #[block(64, 32)] b: TensorMapMut<f32, 2>) {
    let staged = shared::<f32>([64, 32]);
    warp_specialize(
        || {},
        [partition(4).run(|| staged.store(a.tile([0, 0], [64, 32]).load() + 1.0))],
    );
    tma::store(b, [0, 0], staged);
    tma::store_wait(0);
}
