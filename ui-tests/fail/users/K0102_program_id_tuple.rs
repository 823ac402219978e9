use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = [cdiv(x.dim(0), 64), cdiv(x.dim(1), 64)])]
pub fn wrong(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let (i, j) = (program_id(0), program_id(1));
    out.tile([i * 64, j * 64], [64, 64]).store(x.tile([i * 64, j * 64], [64, 64]).load());
}

fn main() {}
