//! Two calls of one function, each wrong in its own way, and two that are wrong in the same way.

use kiln::prelude::*;

#[device]
pub fn widened<T: Number, const N: i32>(x: Tile<T>) -> Tile<T> {
    x + zeros::<T>([N])
}

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn k(x: TensorMut<f32, 1>) {
    let window = x.tile([0], [64]);
    window.store(widened::<f32, 32>(window.load()));
    window.store(widened::<f32, 32>(window.load()));
    window.store(widened::<f32, 128>(window.load()));
}

fn main() {}
