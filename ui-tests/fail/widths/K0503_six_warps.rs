use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 6, grid = cdiv(x.dim(0), 128))]
pub fn row_norms(x: Tensor<bf16, 2>, out: TensorMut<f32, 1>) {
    let row = block_id(0) * 128;
    let v = x.tile([row, 0], [128, 64]).load().cast::<f32>();
    out.tile([row], [128]).store((v * v).sum(1).sqrt());
}

fn main() {}
