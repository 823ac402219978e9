use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn clear(x: TensorMut<f32, 1>) {
    x.tile([0], [128]).store(zeros([128]));
}

fn run(x: &mut DeviceTensor<f32, 1>) -> Result<()> {
    clear(clear::Args { x }).launch()
}

fn main() {}
