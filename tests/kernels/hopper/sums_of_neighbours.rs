//! Sums of neighbours that one instruction adds: of whole tensors, of rows that end within a tile, and of rows that nothing is known of.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[16, 64] list(1, -2, 3, 0, 2, -1, 4)
//@ arg sums: T[16, 64] fill(1)
//@ arg column: T[64] fill(0)
//@ expect sums: 1 + 2 * x(i, j)
//@ expect column: 2 * sum(k, 0, 16, x(k, i))
//@ case: whole
//@ case: ends within the tile
//@ arg x: T[13, 56] list(1, -2, 3, 0, 2, -1, 4)
//@ arg sums: T[13, 56] fill(1)
//@ arg column: T[56] fill(0)
//@ expect column: 2 * sum(k, 0, 13, x(k, i))
//@ case: odd
//@ arg x: T[13, 57] list(1, -2, 3, 0, 2, -1, 4)
//@ arg sums: T[13, 57] fill(1)
//@ arg column: T[57] fill(0)
//@ expect column: 2 * sum(k, 0, 13, x(k, i))
//@ case: one
//@ arg x: T[1, 1] fill(3)
//@ arg sums: T[1, 1] fill(1)
//@ arg column: T[1] fill(0)
//@ expect column: 2 * x(0, 0)
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 2, instances(T = [f16, bf16, f32, f64]))]
pub fn sums_of_neighbours<T: Float>(
    x: Tensor<T, 2>,
    sums: TensorMut<T, 2>,
    column: TensorMut<T, 1>,
) {
    let tile = x.tile([0, 0], [16, 64]).load();
    sums.tile([0, 0], [16, 64]).atomic_add(tile);
    column.tile([0], [64]).atomic_add(tile.sum(0));
}
