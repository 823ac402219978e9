use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = x.dim(0))]
pub fn wrong(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let v = x.tile([block_id(0), 0], [1, 1024]).load();
    let heads = v.reshape([8, 64]);
    out.tile([block_id(0) * 8, 0], [8, 64]).store(heads);
}

fn main() {}
