//! `if` as an expression over scalars and tiles, nested, with `else if`, and a condition known when compiling.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[128] list(1, 2, -3)
//@ arg n: i32 scalar 0
//@ arg out: f32[128] poison
//@ case: first
//@ expect out: x(i) * 2.0
//@ case: second
//@ arg n: i32 scalar 1
//@ expect out: x(i) + 10.0
//@ case: third
//@ arg n: i32 scalar 2
//@ expect out: -x(i)
//@ case: none
//@ arg n: i32 scalar 9
//@ expect out: 4.5
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 1, instances(WIDE = [1, 2]))]
pub fn if_values<const WIDE: i32>(x: Tensor<f32, 1>, n: i32, out: TensorMut<f32, 1>) {
    let x = x.tile([0], [128]).load();
    let y = if n == 0 {
        let twice = x + x;
        twice
    } else if n == 1 {
        let add = if WIDE == 2 { 10.0 } else { 4.0 + 6.0 };
        x + add
    } else {
        if n == 2 && WIDE > 0 { -x } else { full([128], 4.5) }
    };
    out.tile([0], [128]).store(y);
}
