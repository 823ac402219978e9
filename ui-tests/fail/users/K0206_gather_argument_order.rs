use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(logits.dim(0), 16))]
pub fn nll(logits: Tensor<f32, 2>, target: Tensor<i32, 1>, out: TensorMut<f32, 1>) {
    let row = block_id(0) * 16;
    let x = logits.tile([row, 0], [16, 128]).load();
    let t = target.tile([row], [16]).load();
    let picked = x.gather(t.expand(1), 1);
    out.tile([row], [16]).store(-picked.reshape([16]));
}

fn main() {}
