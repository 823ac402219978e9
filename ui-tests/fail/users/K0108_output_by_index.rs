// CUDA: A matrix-vector product, one block a row. The result is assigned to `y[row]`: tensors are not indexed.
// RIGHT: y.tile([row], [1]).store(acc.sum(0).broadcast([1]));
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 8, grid = a.dim(0))]
pub fn gemv(a: Tensor<f32, 2>, x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    let row = block_id(0);
    let mut acc = zeros::<f32>([1024]);
    for at in range(0, a.dim(1), 1024) {
        let v = a.tile([row, at], [1, 1024]).load().reshape([1024]);
        acc += v * x.tile([at], [1024]).load();
    }
    y[row] = acc.sum(0).item();
}

fn main() {}
