use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = x.dim(0))]
pub fn wrong(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let row = block_id(0);
    let v = x.tile([row, 0], [1, 1024]).load();
    let w = x.tile([row, 0], [1, 1024]).load();
    let r = v * v.dot(w);
    out.tile([row, 0], [1, 1024]).store(r);
}

fn main() {}
