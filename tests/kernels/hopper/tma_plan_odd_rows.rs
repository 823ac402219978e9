//! Rows of an odd number of bytes that begin at multiples of 16: read by a map, which nothing may be written by.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: u8[11, 779] iota(0, 7) strides(784, 1)
//@ arg b: u8[11, 779] poison
//@ expect b: a(i, j)
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 1, grid = [cdiv(a.dim(0), 8), cdiv(a.dim(1), 512)])]
pub fn odd_rows(#[stride(_, 1)] a: Tensor<u8, 2>, b: TensorMut<u8, 2>) {
    let at = [block_id(0) * 8, block_id(1) * 512];
    let staged = shared::<u8>([8, 512]).with_layout(row_major());
    let bar = barrier(1);
    bar.expect(staged.bytes());
    copy_async(a.tile(at, [8, 512]), staged).on(bar);
    bar.wait(0);
    b.tile(at, [8, 512]).store(staged.load());
}
