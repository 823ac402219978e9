//! Bits that blocks combine in tensors by tensor map; a box that reaches over an edge changes nothing there.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[2, 128] bits
//@ arg all: T[100] bits
//@ arg any: T[100] bits
//@ arg odd: T[100] bits
//@ expect all: all(i) & x(0, i) & x(1, i)
//@ expect any: any(i) | x(0, i) | x(1, i)
//@ expect odd: odd(i) ^ x(0, i) ^ x(1, i)
use kiln::prelude::*;

#[kernel(target = [sm_90a, sm_100a], warps = 2, grid = x.dim(0), instances(T = [u32, i32, u64]))]
pub fn tma_reduce_bits<T: Int>(
    x: Tensor<T, 2>,
    #[block(128)] all: TensorMapMut<T, 1>,
    #[block(128)] any: TensorMapMut<T, 1>,
    #[block(128)] odd: TensorMapMut<T, 1>,
) {
    let row = shared::<T>([128]);
    row.store(x.tile([block_id(0), 0], [1, 128]).load().reshape([128]));
    tma::reduce_and(all, [0], row);
    tma::reduce_or(any, [0], row);
    tma::reduce_xor(odd, [0], row);
    tma::store_wait_written(0);
}
