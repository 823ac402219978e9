//! Sums that blocks make in a tensor by tensor map; a box that reaches over its edges adds nothing there.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[3, 16, 64] list(1, 2, 3, 0, 2, 1, 4, 3, 5)
//@ arg out: T[21, 80] list(10, 20, 30, 7)
//@ expect out: if i < 16 && j < 64 { out(i, j) + sum(k, 0, 3, x(k, i, j)) } else { if i >= 16 && j >= 64 { out(i, j) + sum(k, 0, 3, x(k, i - 16, j - 64)) } else { out(i, j) } }
use kiln::prelude::*;

#[kernel(target = [sm_90a, sm_100a], warps = 2, grid = x.dim(0), instances(T = [u32, i32, u64, f16, bf16, f32]))]
pub fn tma_reduce_add<T: Number>(x: Tensor<T, 3>, #[block(16, 64)] out: TensorMapMut<T, 2>) {
    let staged = shared::<T>([16, 64]);
    staged.store(x.tile([block_id(0), 0, 0], [1, 16, 64]).load().reshape([16, 64]));
    tma::reduce_add(out, [0, 0], staged);
    tma::reduce_add(out, [16, 64], staged);
    tma::store_wait_written(0);
}
