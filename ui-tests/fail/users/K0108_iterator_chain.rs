use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 1024))]
pub fn wrong(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let v = x.tile([block_id(0) * 1024], [1024]).load();
    let squares = v.iter().map(|a| a * a).collect();
    out.tile([block_id(0) * 1024], [1024]).store(squares);
}

fn main() {}
