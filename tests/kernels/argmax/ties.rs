//! The first of equal elements counts, along each axis, whatever threads hold them.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[32, 64] uniform(-4, 4)
//@ arg largest: i32[32] poison
//@ arg least_of: i32[64] poison
//@ expect largest: least(n, 0, 64, if x(i, n) == most(m, 0, 64, x(i, m)) { n } else { 64 })
//@ expect least_of: least(n, 0, 32, if x(n, i) == least(m, 0, 32, x(m, i)) { n } else { 32 })
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(W = [1, 4, 8]))]
pub fn ties<const W: i32>(x: Tensor<i32, 2>, largest: TensorMut<i32, 1>, least_of: TensorMut<i32, 1>) {
    let x = x.tile([0, 0], [32, 64]).load();
    largest.tile([0], [32]).store(x.argmax(1));
    least_of.tile([0], [64]).store(x.argmin(0));
}
