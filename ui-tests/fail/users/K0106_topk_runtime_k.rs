use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(logits.dim(0), 16))]
pub fn route(logits: Tensor<f32, 2>, experts: TensorMut<i32, 2>, k: i32) {
    let row = block_id(0) * 16;
    let (best, which) = logits.tile([row, 0], [16, 64]).load().top_k(k, 1);
    experts.tile([row, 0], [16, 2]).store(which);
}

fn main() {}
