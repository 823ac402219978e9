use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 1024))]
pub fn wrong(x: Tensor<f32, 1>, total: TensorMut<f32, 1>) {
    let v = x.tile([block_id(0) * 1024], [1024]).load();
    atomic_add(total, v.sum(0));
}

fn main() {}
