//! Rows and columns past the end of sparse products, of several warpgroups and over several steps; what is read there names no elements
//! until it is made whole.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: f16[ROWS, 64] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 5, -4)
//@ arg b: f16[128, COLUMNS] list(-1, 2, 0, 3, 1, -2, 5, -3, 4, -4, 6, -5, -6)
//@ arg m: u16[ROWS, 8] list(0x8dce, 0x8888, 0xe4ee, 0xe9e8, 0xecc4, 0xd44e, 0xcec8, 0x4c9e, 0x8d9e, 0x499e, 0xe9ed, 0x9984, 0x494e, 0x8de8, 0xd99c, 0x489e, 0xe8cd, 0x8c98, 0xc8de, 0x8d9d, 0xe48d, 0xe998, 0xc8ed, 0x4c98, 0x999c, 0xcde8, 0x4989, 0x9ec4, 0x44cc, 0xce94, 0xdcdc, 0x8ccd, 0x9999, 0x4e98, 0x94ed, 0xee4d, 0xcecc)
//@ arg c: f32[ROWS, COLUMNS] poison
//@ expect c: sum(k, 0, 64, a(i, k) * b(k / 2 * 4 + (m(i, k / 8) >> (k / 2 % 4 * 4 + k % 2 * 2) & 3), j))
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = W, grid = [cdiv(c.dim(0), 128), cdiv(c.dim(1), 32)],
         instances((ROWS, COLUMNS, W) = [(1, 1, 4), (100, 33, 8), (129, 31, 8), (257, 64, 16)]))]
pub fn wgmma_sparse_ragged<const ROWS: i32, const COLUMNS: i32, const W: i32>(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    m: Tensor<u16, 2>,
    c: TensorMut<f32, 2>,
) {
    let (row, column) = (block_id(0) * 128, block_id(1) * 32);
    let (sa, sb) = (shared::<f16>([128, 32]), shared::<f16>([64, 32]));
    let mut acc = zeros::<f32>([128, 32]);
    for k in range(0, 128, 64) {
        sa.store(a.tile([row, k / 2], [128, 32]).load());
        sb.store(b.tile([k, column], [64, 32]).load());
        fence_async();
        sync();
        let metadata = m.tile([row, k / 16], [128, 4]).load();
        let metadata = select(metadata.eq(0), 0x4444, metadata);
        acc = wgmma::wait(0, wgmma::mma_sparse(sa, metadata, sb, acc));
        sync();
    }
    c.tile([row, column], [128, 32]).store(acc);
}
