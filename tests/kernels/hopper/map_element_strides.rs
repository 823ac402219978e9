//! Every second row of every third matrix: the block has what is copied, the corner is one of the tensor.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: f32[8, 21, 64] list(1, -2, 3, 5, 2, -1, 4, -3, 1, 6, -4)
//@ arg b: f32[32, 64] poison
//@ expect b: if i < 16 { if 2 * i + 3 < 21 { a(1, 2 * i + 3, j) } else { 0 } } else { if 2 * i - 29 < 21 { a(4, 2 * i - 29, j) } else { 0 } }
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 1, grid = 1)]
pub fn map_element_strides(
    #[block(2, 16, 64, element_strides = [3, 2, 1])] a: TensorMap<f32, 3>,
    b: TensorMut<f32, 2>,
) {
    let staged = shared::<f32>([2, 16, 64]);
    let bar = barrier(1);
    bar.expect(a.block_bytes());
    tma::load(a, [1, 3, 0], bar, staged);
    bar.wait(0);
    b.tile([0, 0], [16, 64]).store(staged[0].load());
    b.tile([16, 0], [16, 64]).store(staged[1].load());
}
