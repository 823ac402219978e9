use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn clear(out: TensorMut<f32, 2>) {
    let z = zeros::<f32>((64, 64));
    out.tile([0, 0], [64, 64]).store(z);
}

fn main() {}
