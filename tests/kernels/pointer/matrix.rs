//! A matrix through pointers with a pitch: rows as a column of offsets, columns as a row.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: ptr f32[64, 100] uniform(-1, 1) strides(P, 1)
//@ arg pitch: i32 scalar P
//@ arg out: ptr f32[32, 64] poison
//@ expect out: x(i + 3, j + 9)
//@ case: even
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1, instances(P = [100, 101, 128]))]
pub fn matrix<const P: i32>(x: Ptr<f32>, #[multiple_of(P)] pitch: i32, out: Ptr<f32>) {
    let rows = (arange(0, 32) + 3).expand(1);
    let cols = (arange(0, 64) + 9).expand(0);
    let v = load(x + rows * pitch + cols);
    store(out + (arange(0, 32).expand(1) * 64 + arange(0, 64).expand(0)), v);
}
