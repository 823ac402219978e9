//! The smallest and the largest of what blocks have, in tensors by tensor map; a box that reaches over an edge changes nothing there.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[5, 8, 64] list(1, 9, 3, 0, 2, 7, 4, 3, 8)
//@ arg low: T[13, 48] list(10, 2, 30)
//@ arg high: T[13, 48] list(1, 20, 3)
//@ expect low: if i < 5 { low(i, j) } else { min(low(i, j), least(k, 0, 5, x(k, i - 5, j))) }
//@ expect high: if i < 8 { high(i, j) } else { max(high(i, j), most(k, 0, 5, x(k, i - 8, j))) }
use kiln::prelude::*;

#[kernel(target = [sm_90a, sm_100a], warps = 2, grid = x.dim(0), instances(T = [u32, i32, u64, i64, f16, bf16]))]
pub fn tma_reduce_order<T: Number>(
    x: Tensor<T, 3>,
    #[block(8, 64)] low: TensorMapMut<T, 2>,
    #[block(8, 64)] high: TensorMapMut<T, 2>,
) {
    let staged = shared::<T>([8, 64]);
    staged.store(x.tile([block_id(0), 0, 0], [1, 8, 64]).load().reshape([8, 64]));
    tma::reduce_min(low, [5, 0], staged);
    tma::reduce_max(high, [8, 0], staged);
    tma::store_wait_written(0);
}
