use kiln::prelude::*;

// Wrong: the row number is widened against overflow, as `tl.program_id(0).to(tl.int64)`; right is `block_id(0)` as it is: positions in tensors are `i32`, and addresses are computed in 64 bits anyway.
#[kernel(target = sm_80, warps = 4, grid = x.dim(0))]
pub fn wrong(x: Tensor<bf16, 2>, weight: Tensor<bf16, 1>, eps: f32, out: TensorMut<bf16, 2>) {
    let row = i64::from(block_id(0));
    let values = x.tile([row, 0], [1, 2048]).load().cast::<f32>();
    let mean = (values * values).sum(1) / x.dim(1) as f32;
    let scale = (mean + eps).rsqrt().expand(1);
    let w = weight.tile([0], [2048]).load().cast::<f32>().expand(0);
    out.tile([row, 0], [1, 2048]).store((values * scale * w).cast::<bf16>());
}

fn main() {}
