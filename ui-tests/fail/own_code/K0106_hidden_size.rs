// Triton: a layer norm whose tile is as wide as `hidden`, an argument.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = x.dim(0))]
pub fn wrong(x: Tensor<f16, 2>, out: TensorMut<f16, 2>, hidden: i32) {
    let row = block_id(0);
    let v = x.tile([row, 0], [1, hidden]).load().cast::<f32>();
    let centred = v - (v.sum(1) / 1024.0).expand(1);
    out.tile([row, 0], [1, hidden]).store(centred.cast::<f16>());
}

fn main() {}
