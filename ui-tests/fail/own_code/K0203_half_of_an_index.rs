// NumPy: a position divided by 2.0.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(out: TensorMut<f32, 1>) {
    let at = arange(0, 64) / 2.0;
    out.tile([0], [64]).store(at);
}

fn main() {}
