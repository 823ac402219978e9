use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1, instances(T = [f16, f32]))]
pub fn copy<T: Float>(x: Tensor<T, 1>, out: TensorMut<T, 1>) {
    out.tile([0], [32]).store(x.tile([0], [32]).load());
}

fn run(stream: &Stream, x: &DeviceTensor<f16, 1>, out: &mut DeviceTensor<f32, 1>) -> Result<()> {
    copy(copy::Args { x, out }).launch(stream)
}

fn main() {}
