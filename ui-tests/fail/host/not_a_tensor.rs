use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn scale(x: Tensor<f32, 1>, by: f32, out: TensorMut<f32, 1>) {
    out.tile([0], [32]).store(x.tile([0], [32]).load() * by);
}

fn run(stream: &Stream, x: &Vec<f32>, out: &mut DeviceTensor<f32, 1>) -> Result<()> {
    scale(scale::Args { x, by: 2, out }).launch(stream)
}

fn main() {}
