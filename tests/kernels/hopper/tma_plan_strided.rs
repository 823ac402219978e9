//! Rows and matrices further apart than they are long: the map has the strides of the tensor.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: bf16[3, 20, 192] list(1, -2, 3, 5, 2, -1, 4, -3, 1, 6, -4) strides(8000, 256, 1) offset(16)
//@ arg b: bf16[3, 20, 192] poison strides(4160, 208, 1)
//@ expect b: a(i, j, k)
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 1, grid = [3, 2, 3])]
pub fn strided(#[block(1, 8, 128)] a: TensorMap<bf16, 3>, b: TensorMut<bf16, 3>) {
    let at = [block_id(2), block_id(0) * 8, block_id(1) * 128];
    let staged = shared::<bf16>([8, 128]);
    let bar = barrier(1);
    bar.expect(staged.bytes());
    tma::load(a, at, bar, staged);
    bar.wait(0);
    b.tile(at, [1, 8, 128]).store(staged.load().expand(0));
}
