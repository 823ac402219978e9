//! A map that fills with NaN what lies outside of its tensor; its elements are not widened.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: f16[13, 104] list(1, -2, 3, 5, 2, -1, 4, -3, 1, 6, -4)
//@ arg b: f16[16, 128] poison
//@ expect b: if i < 13 && j < 104 { a(i, j) } else { 77 }
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 1, grid = 1)]
pub fn map_fill_nan(
    #[block(16, 128, fill = nan)] a: TensorMap<f16, 2>,
    b: TensorMut<f16, 2>,
) {
    let staged = shared::<f16>([16, 128]);
    let bar = barrier(1);
    bar.expect(a.block_bytes());
    tma::load(a, [0, 0], bar, staged);
    bar.wait(0);
    let tile = staged.load();
    b.tile([0, 0], [16, 128]).store(select(tile.ne(tile), full([16, 128], f16::of(77.0)), tile));
}
