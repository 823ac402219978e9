//! Rows of every element size, narrower than a swizzle and wider than one.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg bytes: u8[20, 288] bits
//@ arg halves: bf16[20, 80] bits
//@ arg words: i32[20, 200] bits
//@ arg rows: i32[8] list(19, 3, -2, 7, 20, 0, 0, 11)
//@ arg col: i32 scalar 16
//@ arg b: u8[8, 256] poison
//@ arg h: bf16[8, 16] poison
//@ arg w: i32[8, 128] poison
//@ arg p: i32[8, 128] poison
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 2, grid = 1)]
pub fn gather_types(
    #[block(1, 256)] bytes: TensorMap<u8, 2>,
    #[block(1, 16)] halves: TensorMap<bf16, 2>,
    #[block(1, 128)] words: TensorMap<i32, 2>,
    rows: Tensor<i32, 1>,
    col: i32,
    b: TensorMut<u8, 2>,
    h: TensorMut<bf16, 2>,
    w: TensorMut<i32, 2>,
    p: TensorMut<i32, 2>,
) {
    let rows = rows.tile([0], [8]).load();
    let (b_tile, h_tile) = (shared::<u8>([8, 256]), shared::<bf16>([8, 16]));
    let (w_tile, p_tile) =
        (shared::<i32>([8, 128]), shared::<i32>([8, 128]).with_layout(row_major()));
    let bar = barrier(1);
    bar.expect_copies();
    tma::gather(bytes, rows, col, bar, b_tile);
    tma::gather(halves, rows, col, bar, h_tile);
    tma::gather(words, rows, col, bar, w_tile);
    tma::gather(words, rows, 80 - col, bar, p_tile);
    bar.wait(0);
    b.tile([0, 0], [8, 256]).store(b_tile.load());
    h.tile([0, 0], [8, 16]).store(h_tile.load());
    w.tile([0, 0], [8, 128]).store(w_tile.load());
    p.tile([0, 0], [8, 128]).store(p_tile.load());
}
