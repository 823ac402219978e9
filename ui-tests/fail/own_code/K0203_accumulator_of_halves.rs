// Triton: the accumulator has the type of the inputs, the products are f32.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 16))]
pub fn wrong(x: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
    let row = block_id(0) * 16;
    let mut acc = zeros::<f16>([16, 64]);
    for at in range(0, x.dim(1), 64) {
        let v = x.tile([row, at], [16, 64]).load();
        acc += v * v;
    }
    out.tile([row], [16]).store(acc.cast::<f32>().sum(1));
}

fn main() {}
