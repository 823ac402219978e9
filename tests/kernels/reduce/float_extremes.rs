//! The largest and smallest of floats: NaN loses, unless there is nothing else.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[16, 32] uniform(-9, 9)
//@ arg rows: T[2, 16] poison
//@ arg cols: T[2, 32] poison
//@ case: numbers
//@ case: some NaN
//@ arg x: T[16, 32] list(nan, 1, nan, -2, 3, nan, nan)
//@ case: only NaN
//@ arg x: T[16, 32] fill(nan)
//@ case: infinities
//@ arg x: T[16, 32] list(-inf, inf, 0, nan)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 1, instances(T = [f16, bf16, f32, f64]))]
pub fn float_extremes<T: Float>(x: Tensor<T, 2>, rows: TensorMut<T, 2>, cols: TensorMut<T, 2>) {
    let x = x.tile([0, 0], [16, 32]).load();
    rows.tile([0, 0], [1, 16]).store(x.max(1).expand(0));
    rows.tile([1, 0], [1, 16]).store(x.min(1).expand(0));
    cols.tile([0, 0], [1, 32]).store(x.max(0).expand(0));
    cols.tile([1, 0], [1, 32]).store(x.min(0).expand(0));
}
