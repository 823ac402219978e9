use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn pick(x: TensorMut<f32, 1>, l: Option<Layer>) {
    x.tile([0], [128]).store(zeros([128]));
}

fn main() {}
