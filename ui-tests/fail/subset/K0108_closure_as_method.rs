use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn twice(x: TensorMut<f32, 1>) {
    let doubled = |v: Tile<f32>| v * 2.0;
    let window = x.tile([0], [128]);
    window.store(window.load().doubled());
}

fn main() {}
