use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = x.dim(0))]
pub fn count_nan(x: Tensor<f32, 2>, out: TensorMut<i32, 1>) {
    let row = block_id(0);
    let bad = x.tile([row, 0], [1, 256]).load().is_nan();
    out.tile([row], [1]).store(bad.sum(1));
}

fn main() {}
