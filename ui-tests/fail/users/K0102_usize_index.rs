use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 1024))]
pub fn wrong(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let at: usize = block_id(0) as usize * 1024;
    let v = x.tile([at], [1024]).load();
    out.tile([at], [1024]).store(v);
}

fn main() {}
