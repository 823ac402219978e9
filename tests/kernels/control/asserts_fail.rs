//! An assertion that fails in one element of one block stops the kernel.
//@ run: eval, emulate, gpu
//@ arg x: i32[512] iota(0, 1)
//@ arg limit: i32 scalar 511
//@ arg out: i32[512] fill(0)
//@ fails: assert
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 4)]
pub fn asserts_fail(x: Tensor<i32, 1>, limit: i32, out: TensorMut<i32, 1>) {
    let at = [block_id(0) * 128];
    let v = x.tile(at, [128]).load();
    device_assert(v.lt(limit));
    out.tile(at, [128]).store(v);
}
