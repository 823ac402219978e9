use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(x: Tensor<f16, 2>, y: Tensor<f16, 2>, out: TensorMut<f32, 2>) {
    let a = x.tile([0, 0], [16, 16]).load();
    let b = y.tile([0, 0], [16, 8]).load();
    let c = mma_m16n8k16(a, b, zeros::<f32>([16, 8]));
    out.tile([0, 0], [16, 8]).store(c);
}

fn main() {}
