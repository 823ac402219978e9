use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn masked(x: Tensor<f32, 1>, table: Tensor<i32, 2>, i: i32, y: TensorMut<f32, 1>) {
    let every_other = arange(0, 64) * 2;
    let value = x.tile([0], [64]).load(every_other.lt(x.dim(0)));
    let number = table.load([(i + 1) * 2, 0]);
    y.tile([number], [64]).store(value);
}

fn main() {}
