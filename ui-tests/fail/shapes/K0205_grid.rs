use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = [cdiv(y.dim(3), 64), x.dim(1)])]
pub fn wrong(x: Tensor<f32, 2>, y: TensorMut<f32, 1>) {
    let row = x.tile([0, 0], [1, 64]).load();
    y.tile([0], [1]).store(row.sum(1));
}

fn main() {}
