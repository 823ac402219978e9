use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = x.dim(0))]
pub fn wrong(x: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
    let mut total = 0.0;
    for at in range(0, x.dim(1), 1024) {
        total += x.tile([block_id(0), at], [1, 1024]).load().sum(1);
    }
    out.tile([block_id(0)], [1]).store(total);
}

fn main() {}
