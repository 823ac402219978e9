//! Bits that blocks combine in global memory by bulk copies.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[2, 128] bits
//@ arg all: ptr T[128] bits
//@ arg any: ptr T[128] bits
//@ arg odd: ptr T[128] bits
//@ expect all: all(i) & x(0, i) & x(1, i)
//@ expect any: any(i) | x(0, i) | x(1, i)
//@ expect odd: odd(i) ^ x(0, i) ^ x(1, i)
use kiln::prelude::*;

#[kernel(target = [sm_90a, sm_100a], warps = 2, grid = x.dim(0), instances(T = [u32, i32, u64, i64]))]
pub fn bulk_reduce_bits<T: Int>(x: Tensor<T, 2>, all: Ptr<T>, any: Ptr<T>, odd: Ptr<T>) {
    let row = shared::<T>([128]);
    row.store(x.tile([block_id(0), 0], [1, 128]).load().reshape([128]));
    bulk::reduce_and(all, row);
    bulk::reduce_or(any, row);
    bulk::reduce_xor(odd, row);
    tma::store_wait_written(0);
}
