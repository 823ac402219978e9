use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(out.dim(0), 1024))]
pub fn wrong(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let offs = block_id(0) * 1024 + arange(0, 1024);
    let mask = offs.lt(x.dim(0));
    let v = load(x + offs, mask, 0.0);
    out.tile([block_id(0) * 1024], [1024]).store(v);
}

fn main() {}
