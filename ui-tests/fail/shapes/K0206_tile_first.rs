use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn clamp(y: TensorMut<f32, 1>, n: i32) {
    let x = y.tile([0], [128]).load();
    let low = maximum(0.0, x);
    let steps = minimum(n, 8);
    let chosen = select(n > 0, x, 0.0);
    y.tile([0], [128]).store(fma(2.0, x, x));
}

fn main() {}
