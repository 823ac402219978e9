//! Sums that blocks make in global memory by bulk copies.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[5, 128] list(1, 2, 3, 0, 2, 1, 4, 3)
//@ arg out: ptr T[128] list(10, 20, 30)
//@ expect out: out(i) + sum(k, 0, 5, x(k, i))
use kiln::prelude::*;

#[kernel(target = [sm_90a, sm_100a], warps = 2, grid = x.dim(0), instances(T = [u32, i32, u64, f16, bf16, f32, f64]))]
pub fn bulk_reduce_add<T: Number>(x: Tensor<T, 2>, out: Ptr<T>) {
    let row = shared::<T>([128]);
    row.store(x.tile([block_id(0), 0], [1, 128]).load().reshape([128]));
    bulk::reduce_add(out, row);
    tma::store_wait_written(0);
}
