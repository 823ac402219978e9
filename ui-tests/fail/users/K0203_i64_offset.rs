use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = x.dim(0))]
pub fn wrong(stride: i64, x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let at = block_id(0) * stride;
    let v = x.tile([at], [1024]).load();
    out.tile([at], [1024]).store(v);
}

fn main() {}
