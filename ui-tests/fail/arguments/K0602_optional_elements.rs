use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn sum(xs: [Option<Tensor<f32, 1>>; 3], out: TensorMut<f32, 1>) {
    out.tile([0], [128]).store(zeros([128]));
}

fn main() {}
