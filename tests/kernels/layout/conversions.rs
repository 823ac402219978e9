//! A tile moved through one layout after another: registers, shuffles and shared memory change nothing of its values.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ no-conflicts
//@ arg x: T[32, 64] bits
//@ arg out: T[32, 64] poison
//@ expect out: x(i, j)
use kiln::prelude::*;


#[kernel(target = sm_80, warps = 4, grid = 1, instances(T = [bool, i8, i16, i32, i64, f16, bf16, f32, f64]))]
pub fn conversions<T: Scalar>(x: Tensor<T, 2>, out: TensorMut<T, 2>) {
    const ROWS: Layout = blocked([1, 8], [4, 8], [4, 1], [1, 0]);
    const COLUMNS: Layout = blocked([8, 1], [4, 8], [1, 4], [0, 1]);
    const SINGLE: Layout = blocked([1, 1], [1, 32], [2, 2], [1, 0]);
    const SQUARE: Layout = blocked([2, 2], [8, 4], [2, 2], [0, 1]);
    const TALL: Layout = blocked([4, 1], [32, 1], [1, 4], [1, 0]);
    let v = x.tile([0, 0], [32, 64]).load().to_layout(ROWS);
    let v = v.to_layout(COLUMNS).to_layout(SINGLE).to_layout(SQUARE).to_layout(TALL).to_layout(ROWS);
    out.tile([0, 0], [32, 64]).store(v);
}
