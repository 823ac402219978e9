// Triton: Dequantises activations: out = x * scale + bias in f16. An `f16` tile times an `f32` scalar: types do not promote.
// RIGHT: let y = x.tile(at, [32, 128]).load().cast::<f32>() * scale + bias;
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = [cdiv(x.dim(0), 32), cdiv(x.dim(1), 128)])]
pub fn scale_bias(x: Tensor<f16, 2>, scale: f32, bias: f32, out: TensorMut<f16, 2>) {
    let at = [block_id(0) * 32, block_id(1) * 128];
    let y = x.tile(at, [32, 128]).load() * scale + bias;
    out.tile(at, [32, 128]).store(y.cast::<f16>());
}

fn main() {}
