use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = q.dim(0))]
pub fn transposed(q: Tensor<f16, 2>, k: Tensor<f16, 4>, out: TensorMut<f32, 2>) {
    let qs = q.tile([0, 0], [16, 128]).load();
    let k = k.tile([block_id(0), 0, 0, 0], [1, 1, 16, 128]).load();
    out.tile([0, 0], [16, 16]).store(dot(qs, k.t(), zeros([16, 16])));
}

fn main() {}
