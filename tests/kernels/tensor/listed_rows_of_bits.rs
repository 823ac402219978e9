//! Windows of listed rows of types whose bits nothing but tensor cores reads as numbers, of FP8 numbers and of truth values.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[8, 64] bits
//@ arg rows: i32[4] list(5, -1, 8, 0)
//@ arg out: T[4, 32] poison
//@ arg back: T[8, 64] bits
//@ expect out: if (rows(i) >= 0) && (rows(i) < 8) { x(rows(i), j + 32) } else { 0 }
//@ expect back: if (i == 5) && (j < 32) { x(0, j + 32) } else { if (i == 0) && (j < 32) { x(3, j + 32) } else { back(i, j) } }
use kiln::prelude::*;

#[kernel(target = [sm_80, sm_90a], warps = 1, grid = 1, instances(T = [bool, e4m3, e2m1x2, ue8m0]))]
pub fn listed_rows_of_bits<T: Scalar>(x: Tensor<T, 2>, rows: Tensor<i32, 1>, out: TensorMut<T, 2>, back: TensorMut<T, 2>) {
    let rows = rows.tile([0], [4]).load();
    out.tile([0, 0], [4, 32]).store(x.tile_rows(rows, [0, 32], [4, 32]).load());
    back.tile_rows(rows, [0, 0], [4, 32]).store(x.tile([0, 32], [4, 32]).load());
}
