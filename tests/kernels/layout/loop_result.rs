//! What a loop carries and what it results in are the same registers, even where what is passed and what is wanted are pinned
//! to other layouts.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg n: i32 scalar 2
//@ arg x: f64[4, 8, 2] uniform(-4, 4)
//@ arg out: f64[4, 8, 2] poison
//@ expect out: -x(i, j, k)
//@ case: two iterations
//@ case: no iteration
//@ arg n: i32 scalar 0
//@ expect out: x(i, j, k)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn loop_result(n: i32, x: Tensor<f64, 3>, out: TensorMut<f64, 3>) {
    let x = x.tile([0, 0, 0], [4, 8, 2]).load();
    let other = x.to_layout(blocked([4, 4, 1], [4, 1, 8], [1, 1, 1], [0, 1, 2]));
    let mut v = x;
    for _ in 0..n {
        v = -other;
    }
    let mut w = x.to_layout(blocked([1, 4, 4], [2, 2, 8], [1, 1, 1], [2, 0, 1]));
    if n < 100 {
        w = v;
    }
    out.tile([0, 0, 0], [4, 8, 2]).store(w);
}
