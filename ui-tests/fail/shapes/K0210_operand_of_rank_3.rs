use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = q.dim(0))]
pub fn of_rank_3(q: Tensor<f16, 3>, k: Tensor<f16, 2>, out: TensorMut<f32, 2>) {
    let qs = q.tile([block_id(0), 0, 0], [1, 16, 128]).load();
    let k = k.tile([0, 0], [128, 16]).load();
    out.tile([0, 0], [16, 16]).store(dot(qs, k, zeros([16, 16])));
}

#[kernel(target = sm_80, warps = 4, grid = q.dim(0))]
pub fn both(q: Tensor<f16, 3>, k: Tensor<f16, 3>, out: TensorMut<f32, 2>) {
    let qs = q.tile([block_id(0), 0, 0], [1, 16, 128]).load();
    let ks = k.tile([0, 0, 0], [1, 128, 16]).load();
    out.tile([0, 0], [16, 16]).store(dot(qs, ks, zeros([16, 16])));
}

fn main() {}
