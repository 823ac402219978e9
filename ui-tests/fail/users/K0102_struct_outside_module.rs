use kiln::prelude::*;

pub struct Layer {
    pub scale: Tensor<f32, 1>,
    pub bias: Tensor<f32, 1>,
}

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 128))]
pub fn affine(layer: Layer, x: TensorMut<f32, 1>) {
    let at = block_id(0) * 128;
    let w = x.tile([at], [128]);
    w.store(w.load() * layer.scale.tile([at], [128]).load() + layer.bias.tile([at], [128]).load());
}

fn main() {}
