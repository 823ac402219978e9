//! What a thread reads of itself, and arithmetic on it, spread over a tile with one element a thread.
//@ run: emulate, gpu
//@ compare: exact
//@ snapshot: ptx
//@ arg lanes: i32[64] poison
//@ arg warps: i32[64] poison
//@ expect lanes: 3 * (i % 32) + 1
//@ expect warps: i / 32
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 1)]
pub fn lane(lanes: TensorMut<i32, 1>, warps: TensorMut<i32, 1>) {
    // Element i in thread i.
    const ONE_EACH: Layout = blocked([1], [32], [2], [0]);
    let lane = ptx!("mov.u32 {out}, %laneid;" => i32);
    device_assert(lane < 32);
    lanes.tile([0], [64]).store(full([64], 3 * lane + 1).to_layout(ONE_EACH));
    let warp = ptx!("{{ .reg .u32 t; mov.u32 t, %tid.x; shr.u32 {out}, t, 5; }}" => i32);
    warps.tile([0], [64]).store(full([64], warp).to_layout(ONE_EACH));
}
