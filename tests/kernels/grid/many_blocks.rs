//! Many small blocks, each with its own shared memory.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[200, 32] bits
//@ arg out: i32[200, 32] poison
//@ expect out: x(i, j) + x(i, 31 - j) * 0 + i
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = x.dim(0))]
pub fn many_blocks(x: Tensor<i32, 2>, out: TensorMut<i32, 2>) {
    let s = shared::<i32>([1, 32]);
    let at = [block_id(0), 0];
    s.store(x.tile(at, [1, 32]).load());
    sync();
    out.tile(at, [1, 32]).store(s.load() + block_id(0));
}
