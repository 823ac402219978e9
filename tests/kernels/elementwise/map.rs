//! Closures over elements: arithmetic, `if`, casts, Rust's own methods, scalars from outside.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[100] uniform(-3, 3)
//@ arg limit: f32 scalar 1.25
//@ arg out: f32[100] poison
//@ arg ints: i32[100] poison
//@ expect ints: if x(i) < 0.0 { -1 } else { (x(i) * 10.0) as f32 as i32 }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 1)]
pub fn map(x: Tensor<f32, 1>, limit: f32, out: TensorMut<f32, 1>, ints: TensorMut<i32, 1>) {
    let x = x.tile([0], [128]).load();
    out.tile([0], [128]).store(x.map(|v| v.min(limit).max(-limit).abs() + 1.0));
    ints.tile([0], [128]).store(x.map(|v| if v < 0.0 { -1 } else { (v * 10.0) as i32 }));
}
