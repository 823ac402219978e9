use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 128))]
pub fn shifted(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let at = block_id(0) * 128;
    out.tile([at], [128]).store(x.tile([at.saturating_sub(1)], [128]).load());
}

fn main() {}
