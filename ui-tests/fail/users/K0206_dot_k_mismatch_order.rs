use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(x: Tensor<f16, 2>, y: Tensor<f16, 2>, out: TensorMut<f32, 2>) {
    let a = x.tile([0, 0], [64, 32]).load();
    let b = y.tile([0, 0], [32, 128]).load();
    let acc = zeros::<f32>([64, 128]);
    out.tile([0, 0], [64, 128]).store(dot(acc, a, b));
}

fn main() {}
