// PyTorch: an f16 activation times a bf16 weight.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(out.dim(0), 256))]
pub fn wrong(x: Tensor<f16, 1>, w: Tensor<bf16, 1>, out: TensorMut<f32, 1>) {
    let at = [block_id(0) * 256];
    let product = x.tile(at, [256]).load() * w.tile(at, [256]).load();
    out.tile(at, [256]).store(product.cast::<f32>());
}

fn main() {}
