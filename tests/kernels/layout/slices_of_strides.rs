//! Slices of layouts that are spelled as extents and strides, and the same slices of bases: the sums of rows and of columns.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[32, 64] list(3, -1, 4, 1, -5, 9, 2, -6, 5, 3, 5)
//@ arg rows: i32[32] poison
//@ arg columns: i32[64] poison
//@ expect rows: sum(n, 0, 64, x(i, n))
//@ expect columns: sum(n, 0, 32, x(n, i)) + i
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 1)]
pub fn slices_of_strides(x: Tensor<i32, 2>, rows: TensorMut<i32, 1>, columns: TensorMut<i32, 1>) {
    const STRIDES: Layout = layout!(S[(2, 16, 2, 32) : (1 @ warpid, 2, 1, 1 @ laneid)]);
    const BASES: Layout = linear(
        [[0, 32], [1, 0], [2, 0], [4, 0], [8, 0]],
        [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]],
        [[16, 0]],
        [32, 64],
    );
    let tile = x.tile([0, 0], [32, 64]).load().to_layout(STRIDES);
    let of_rows = tile.sum(1).assert_layout(slice(1, STRIDES)).assert_layout(slice(1, BASES));
    let of_columns = tile.sum(0).assert_layout(slice(0, BASES)).assert_layout(slice(0, STRIDES));
    rows.tile([0], [32]).store(of_rows);
    columns.tile([0], [64]).store(of_columns + arange(0, 64).to_layout(slice(0, STRIDES)));
}
