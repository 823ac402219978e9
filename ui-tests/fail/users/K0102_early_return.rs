use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 128))]
pub fn wrong(n: i32, x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let at = block_id(0) * 128;
    if at + thread_id() >= n { return; }
    out.tile([at], [128]).store(x.tile([at], [128]).load());
}

fn main() {}
