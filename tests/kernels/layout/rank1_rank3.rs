//! Pinned layouts of rank 1 and 3, larger and smaller than their tiles.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[512] bits
//@ arg y: f32[4, 8, 16] bits
//@ arg small: f32[8] bits
//@ arg out: f32[512] poison
//@ arg cube: f32[4, 8, 16] poison
//@ arg few: f32[8] poison
//@ expect out: x(i)
//@ expect cube: y(i, j, k)
//@ expect few: small(i)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn rank1_rank3(
    x: Tensor<f32, 1>,
    y: Tensor<f32, 3>,
    small: Tensor<f32, 1>,
    out: TensorMut<f32, 1>,
    cube: TensorMut<f32, 3>,
    few: TensorMut<f32, 1>,
) {
    let v = x.tile([0], [512]).load().to_layout(blocked([4], [32], [4], [0]));
    let v = v.to_layout(blocked([1], [32], [4], [0])).to_layout(blocked([16], [32], [4], [0]));
    out.tile([0], [512]).store(v);
    let w = y.tile([0, 0, 0], [4, 8, 16]).load();
    let w = w.to_layout(blocked([1, 1, 4], [2, 4, 4], [2, 2, 1], [2, 1, 0]));
    let w = w.to_layout(blocked([4, 1, 1], [1, 8, 4], [1, 1, 4], [0, 1, 2]));
    cube.tile([0, 0, 0], [4, 8, 16]).store(w);
    let s = small.tile([0], [8]).load().to_layout(blocked([2], [32], [4], [0]));
    few.tile([0], [8]).store(s.to_layout(blocked([1], [32], [4], [0])));
}
