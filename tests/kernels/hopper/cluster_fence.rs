//! Threads write to another block, which has it copied by tensor map and in bulk: what they wrote is fenced before the blocks meet.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[2, 32, 32] uniform(-8, 8)
//@ arg mapped: f32[2, 32, 32] poison
//@ arg rows: ptr f32[2048] poison
//@ expect mapped: x(1 - i, j, k)
//@ expect rows: x(1 - i / 1024, i % 1024 / 32, i % 32)
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, cluster = 2, grid = 2)]
pub fn cluster_fence(
    x: Tensor<f32, 3>,
    #[block(1, 32, 32)] mapped: TensorMapMut<f32, 3>,
    rows: Ptr<f32>,
) {
    let rank = cluster::rank();
    let staged = shared::<f32>([32, 32]);
    let tile = x.tile([rank, 0, 0], [1, 32, 32]).load().reshape([32, 32]);
    staged.of_block(1 - rank).store(tile);
    cluster::sync();
    tma::store(mapped, [rank, 0, 0], staged);
    bulk::store(rows + rank * 1024, staged);
    tma::store_wait(0);
}
