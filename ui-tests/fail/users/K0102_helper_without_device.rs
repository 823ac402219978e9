use kiln::prelude::*;

fn gelu(x: Tile<f32>) -> Tile<f32> {
    x * 0.5 * (1.0 + (x * 0.70710678).erf())
}

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 1024))]
pub fn wrong(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let v = x.tile([block_id(0) * 1024], [1024]).load();
    out.tile([block_id(0) * 1024], [1024]).store(gelu(v));
}

fn main() {}
