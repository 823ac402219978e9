//! Sparse products over several steps, of operands in shared memory and rows past the end of a matrix, whose metadata is made whole.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: T[ROWS, 64] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 5, -4)
//@ arg b: T[COLUMNS, 128] list(-1, 2, 0, 3, 1, -2, 5, -3, 4, -4, 6, -5, -6)
//@ arg m: u16[ROWS, 8] list(0x8dce, 0x8888, 0xe4ee, 0xe9e8, 0xecc4, 0xd44e, 0xcec8, 0x4c9e, 0x8d9e, 0x499e, 0xe9ed, 0x9984, 0x494e, 0x8de8, 0xd99c, 0x489e, 0xe8cd, 0x8c98, 0xc8de, 0x8d9d, 0xe48d, 0xe998, 0xc8ed, 0x4c98, 0x999c, 0xcde8, 0x4989, 0x9ec4, 0x44cc, 0xce94, 0xdcdc, 0x8ccd, 0x9999, 0x4e98, 0x94ed, 0xee4d, 0xcecc)
//@ arg out: f32[ROWS, COLUMNS] poison
//@ expect out: sum(k, 0, 64, a(i, k) * b(j, k / 2 * 4 + (m(i, k / 8) >> (k / 2 % 4 * 4 + k % 2 * 2) & 3)))
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = [cdiv(out.dim(0), 32), cdiv(out.dim(1), 16)],
         instances(T = [f16, bf16], (ROWS, COLUMNS) = [(32, 16), (33, 17), (1, 1), (70, 5)]))]
pub fn sparse_ragged<T: Float, const ROWS: i32, const COLUMNS: i32>(
    a: Tensor<T, 2>,
    b: Tensor<T, 2>,
    m: Tensor<u16, 2>,
    out: TensorMut<f32, 2>,
) {
    let (row, column) = (block_id(0) * 32, block_id(1) * 16);
    let (left, right) = (shared::<T>([32, 32]), shared::<T>([16, 64]));
    let held = shared::<u16>([32, 4]);
    let mut acc = zeros::<f32>([32, 16]);
    for k in range(0, 128, 64) {
        let metadata = m.tile([row, k / 16], [32, 4]).load();
        left.store(a.tile([row, k / 2], [32, 32]).load());
        right.store(b.tile([column, k], [16, 64]).load());
        held.store(select(metadata.eq(0), 0x4444, metadata));
        sync();
        acc = dot_sparse(left, right.t(), acc, held);
        sync();
    }
    out.tile([row, column], [32, 16]).store(acc);
}
