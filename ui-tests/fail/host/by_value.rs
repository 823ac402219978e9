use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn copy(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    out.tile([0], [32]).store(x.tile([0], [32]).load());
}

fn run(stream: &Stream, x: DeviceTensor<f32, 1>, out: &mut DeviceTensor<f32, 1>) -> Result<()> {
    copy(copy::Args { x, out: out.slice_mut(0, 0..32)? }).launch(stream)
}

fn main() {}
