// Triton: Copies a strided matrix by pointers. `x.stride(0)` is an i64, and the row numbers are a tile of i32.
// RIGHT: let v = load_masked(x.ptr() + rows.expand(1).cast::<i64>() * x.stride(0) + cols.expand(0), mask, 0.0);
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 32))]
pub fn contiguous(#[stride(_, 1)] x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let start = block_id(0) * 32;
    let rows = start + arange(0, 32);
    let cols = arange(0, 128);
    let mask = rows.lt(x.dim(0)).expand(1) & cols.lt(x.dim(1)).expand(0);
    let v = load_masked(x.ptr() + rows.expand(1) * x.stride(0) + cols.expand(0), mask, 0.0);
    out.tile([start, 0], [32, 128]).store(v);
}

fn main() {}
