//! A tile of rank 1 reduced to one value, which goes with tiles of every shape.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[N] uniform(-100000, 100000)
//@ arg out: i32[N] poison
//@ arg all: i32[3] poison
//@ expect out: x(i) - most(a, 0, N, x(a))
//@ expect all: if i == 0 { sum(a, 0, N, x(a)) } else { if i == 1 { most(a, 0, N, x(a)) } else { least(a, 0, N, x(a)) } }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(N = [1, 32, 64, 1024], W = [1, 4]))]
pub fn rank1<const N: i32, const W: i32>(x: Tensor<i32, 1>, out: TensorMut<i32, 1>, all: TensorMut<i32, 1>) {
    let x = x.tile([0], [N]).load();
    out.tile([0], [N]).store(x - x.max(0));
    all.tile([0], [1]).store(x.sum(0).expand(0));
    all.tile([1], [1]).store(x.max(0).expand(0));
    all.tile([2], [1]).store(x.min(0).expand(0));
}
