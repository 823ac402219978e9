//! `zeros` of no stated type is of the type that sums of bytes have, with a sign or without.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: u8[16, 32] bits
//@ arg b: u8[32, 16] bits
//@ arg c: i8[16, 32] bits
//@ arg d: i8[32, 16] bits
//@ arg ab: i32[16, 16] poison
//@ arg cd: i32[16, 16] poison
//@ expect ab: sum(k, 0, 32, a(i, k) * b(k, j))
//@ expect cd: sum(k, 0, 32, c(i, k) * d(k, j))
use kiln::prelude::*;

#[kernel(target = [sm_80, sm_90a], warps = 1, grid = 1)]
pub fn sums_of_bytes(
    a: Tensor<u8, 2>,
    b: Tensor<u8, 2>,
    c: Tensor<i8, 2>,
    d: Tensor<i8, 2>,
    ab: TensorMut<i32, 2>,
    cd: TensorMut<i32, 2>,
) {
    let (a, b) = (a.tile([0, 0], [16, 32]).load(), b.tile([0, 0], [32, 16]).load());
    let (c, d) = (c.tile([0, 0], [16, 32]).load(), d.tile([0, 0], [32, 16]).load());
    ab.tile([0, 0], [16, 16]).store(dot(a, b, zeros([16, 16])));
    cd.tile([0, 0], [16, 16]).store(dot(c, d, zeros([16, 16])));
}
