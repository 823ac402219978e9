//! The smallest and the largest of what blocks have, in global memory by bulk copies.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[5, 128] list(1, 9, 3, 0, 2, 7, 4, 3, 8)
//@ arg low: ptr T[128] list(10, 2, 30)
//@ arg high: ptr T[128] list(1, 20, 3)
//@ expect low: min(low(i), least(k, 0, 5, x(k, i)))
//@ expect high: max(high(i), most(k, 0, 5, x(k, i)))
use kiln::prelude::*;

#[kernel(target = [sm_90a, sm_100a], warps = 2, grid = x.dim(0), instances(T = [u32, i32, u64, i64, f16, bf16]))]
pub fn bulk_reduce_order<T: Number>(x: Tensor<T, 2>, low: Ptr<T>, high: Ptr<T>) {
    let row = shared::<T>([128]);
    row.store(x.tile([block_id(0), 0], [1, 128]).load().reshape([128]));
    bulk::reduce_min(low, row);
    bulk::reduce_max(high, row);
    tma::store_wait_written(0);
}
