// CUDA: a transposed element, `out[j][i] = x[i][j]`.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = [x.dim(0), x.dim(1)])]
pub fn wrong(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let (i, j) = (block_id(0), block_id(1));
    out[j][i] = x[i][j];
}

fn main() {}
