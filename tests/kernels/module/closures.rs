//! Closures that capture, and functions that take them.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[32] list(1, 2, -3, 0.5)
//@ arg k: i32 scalar 4
//@ arg out: f32[32] poison
//@ expect out: (x(i) * 4.0 + 4.0) * 4.0 + 4.0
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn closures(x: Tensor<f32, 1>, k: i32, out: TensorMut<f32, 1>) {
    fn twice(x: Tile<f32>, f: impl Fn(Tile<f32>) -> Tile<f32>) -> Tile<f32> {
        f(f(x))
    }
    let factor = k as f32;
    let step = |v: Tile<f32>| v * factor + 4.0;
    out.tile([0], [32]).store(twice(x.tile([0], [32]).load(), step));
}
