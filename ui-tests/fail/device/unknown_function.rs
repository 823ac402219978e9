//! Nothing of that name is in sight; what is wrong before it is said as well.

use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn k(x: TensorMut<f32, 1>) {
    let window = x.tile([0], [64]);
    window.store(zeros::<f32>([16]));
    window.store(leaky_step(window.load()));
}

fn main() {}
