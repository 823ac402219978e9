use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn copy(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    out.tile([0, 0], [32, 32]).store(x.tile([0, 0], [32, 32]).load());
}

fn run(stream: &Stream, x: &DeviceTensor<f32, 1>, out: &mut DeviceTensor<f32, 2>) -> Result<()> {
    copy(copy::Args { x, out }).launch(stream)
}

fn main() {}
