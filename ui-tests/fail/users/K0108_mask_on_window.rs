use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = x.dim(0))]
pub fn row_sum(x: Tensor<f32, 2>, lengths: Tensor<i32, 1>, out: TensorMut<f32, 1>) {
    let row = block_id(0);
    let n = lengths.tile([row], [1]).load().item();
    let mask = arange(0, 256).lt(n).expand(0);
    let v = x.tile([row, 0], [1, 256]).load_masked(mask, 0.0);
    out.tile([row], [1]).store(v.sum(1));
}

fn main() {}
