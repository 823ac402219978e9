//! Slices of maps with element strides and with NaN outside; a copy that does not take place may be before its slice.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg end: i32 scalar 12
//@ arg a: f32[21, 64] list(1, -2, 3, 5, 2, -1, 4, -3, 1, 6, -4)
//@ arg b: f16[40, 104] list(1, -2, 3, 5, 2, -1, 4, -3, 1, 6, -4)
//@ arg stepped: f32[8, 64] poison
//@ arg filled: f16[16, 128] poison
//@ arg copied: f32[8, 64] poison
//@ expect stepped: if 2 * i + 3 < end { a(2 * i + 3, j) } else { 0 }
//@ expect filled: if i + 2 < end && j < 104 { b(i + 2, j) } else { 77 }
//@ expect copied: if 2 * i + 3 < end { a(2 * i + 3, j) } else { 0 }
//@ case: within the first box
//@ case: one row
//@ arg end: i32 scalar 4
//@ case: none
//@ arg end: i32 scalar 1
//@ case: the whole box
//@ arg end: i32 scalar 19
use kiln::prelude::*;

#[kernel(target = [sm_90a, sm_100a], warps = 1, grid = 1)]
pub fn tma_slice_options(
    end: i32,
    #[block(8, 64, element_strides = [2, 1])] a: TensorMap<f32, 2>,
    #[block(16, 128, fill = nan)] b: TensorMap<f16, 2>,
    stepped: TensorMut<f32, 2>,
    filled: TensorMut<f16, 2>,
    #[block(8, 64)] copied: TensorMapMut<f32, 2>,
) {
    let (numbers, halves) = (shared::<f32>([8, 64]), shared::<f16>([16, 128]));
    let bars = barriers(2, 1);
    bars[0].expect(a.block_bytes());
    tma::load(a.slice((3..end, ..)), [0, 0], bars[0], numbers);
    bars[1].expect(b.block_bytes());
    let part = b.slice((2..end, ..));
    tma::prefetch(part, [0, 0]);
    copy_async(part.at([0, 0]), halves).on(bars[1]).evict_first();
    bars[0].wait(0);
    bars[1].wait(0);
    tma::store(copied, [0, 0], numbers);
    tma::store(copied.slice((..end, ..)), [end - 100, 0], numbers).when(end > 100);
    tma::store_wait(0);
    stepped.tile([0, 0], [8, 64]).store(numbers.load());
    let tile = halves.load();
    filled.tile([0, 0], [16, 128]).store(select(tile.ne(tile), full([16, 128], f16::of(77.0)), tile));
}
