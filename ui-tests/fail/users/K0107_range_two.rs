use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 32))]
pub fn row_sums(x: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
    let row = block_id(0) * 32;
    let mut acc = zeros::<f32>([32, 64]);
    for k in range(0, cdiv(x.dim(1), 64)) {
        acc += x.tile([row, k * 64], [32, 64]).load();
    }
    out.tile([row], [32]).store(acc.sum(1));
}

fn main() {}
