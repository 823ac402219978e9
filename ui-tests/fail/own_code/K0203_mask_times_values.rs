// Triton: values outside of the mask are made zero by a product.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 256))]
pub fn wrong(x: Tensor<f32, 1>, limit: f32, out: TensorMut<f32, 1>) {
    let at = [block_id(0) * 256];
    let v = x.tile(at, [256]).load();
    let keep = v.lt(limit);
    out.tile(at, [256]).store(keep * v);
}

fn main() {}
