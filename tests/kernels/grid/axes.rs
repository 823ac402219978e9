//! Blocks know their place on three axes, and the grid's extents.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ grid: 3, 4, 2
//@ arg out: i32[2, 4, 3] poison
//@ arg extents: i32[4] poison
//@ expect out: i * 100 + j * 10 + k
//@ expect extents: if i == 0 { 3 } else { if i == 1 { 4 } else { if i == 2 { 2 } else { 8 } } }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 8)]
pub fn axes(out: TensorMut<i32, 3>, extents: TensorMut<i32, 1>) {
    let [x, y, z] = [block_id(0), block_id(1), block_id(2)];
    out.tile([z, y, x], [1, 1, 1]).store(full([1, 1, 1], z * 100 + y * 10 + x));
    extents.tile([0], [1]).store(full([1], grid_dim(0)));
    extents.tile([1], [1]).store(full([1], num_blocks(1)));
    extents.tile([2], [1]).store(full([1], grid_dim(2)));
    extents.tile([3], [1]).store(full([1], num_warps()));
}
