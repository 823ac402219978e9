use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(out: TensorMut<f32, 1>) {
    let acc = full([64], 0.0, f32);
    out.tile([0], [64]).store(acc);
}

fn main() {}
