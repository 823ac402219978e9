//! A line of every length, down to one element.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[N] uniform(-100000, 100000)
//@ arg out: i32[N] poison
//@ expect out: sum(n, 0, i + 1, x(n))
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(N = [1, 2, 32, 128, 1024], W = [1, 4]))]
pub fn rank1<const N: i32, const W: i32>(x: Tensor<i32, 1>, out: TensorMut<i32, 1>) {
    out.tile([0], [N]).store(x.tile([0], [N]).load().cumsum(0));
}
