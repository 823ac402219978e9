//! A look-up table: elements at tiles of indices, of every element type; zero at indices that are outside, those below zero included.
//!
//! The tiles are larger than the block, smaller, and of two axes; the table is one for all blocks, which the indices of a mask never leave.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[64] bits
//@ arg at: i32[1024] uniform(-40, 100)
//@ arg far: i32[8] bits
//@ arg out: T[1024] poison
//@ arg masked: T[1024] poison
//@ arg few: T[8] poison
//@ arg turned: T[32, 32] poison
//@ expect out: if at(i) >= 0 && at(i) < 64 { x(at(i)) } else { 0 }
//@ expect masked: x(at(i) & 63)
//@ expect few: if far(i) >= 0 && far(i) < 64 { x(far(i)) } else { 0 }
//@ expect turned: if at(j * 32 + i) >= 0 && at(j * 32 + i) < 64 { x(at(j * 32 + i)) } else { 0 }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1,
         instances(T = [bool, i8, u16, i32, u64, f16, bf16, f32, f64], W = [1, 4]))]
pub fn look_up<T: Scalar, const W: i32>(
    x: Tensor<T, 1>,
    at: Tensor<i32, 1>,
    far: Tensor<i32, 1>,
    out: TensorMut<T, 1>,
    masked: TensorMut<T, 1>,
    few: TensorMut<T, 1>,
    turned: TensorMut<T, 2>,
) {
    let table = shared::<T>([64]);
    table.store(x.tile([0], [64]).load());
    sync();
    let indices = at.tile([0], [1024]).load();
    out.tile([0], [1024]).store(table.gather(indices));
    masked.tile([0], [1024]).store(table.gather([indices & 63]));
    few.tile([0], [8]).store(table.gather(far.tile([0], [8]).load()));
    turned.tile([0, 0], [32, 32]).store(table.gather(indices.reshape([32, 32]).t()));
}
