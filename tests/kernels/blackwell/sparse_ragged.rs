//! Sparse products of tensors of every extent, block by block: rows, columns and depth past the end are zeros, whatever their metadata says; a part
//! of a tile of metadata, and metadata in a view of other memory.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: f16[R, D / 2] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 5, -4)
//@ arg b: f16[C, D] list(-1, 2, 0, 3, 1, -2, 5, -3, 4, -4, 6, -5, -6)
//@ arg m: u16[256, 8] list(0x8dce, 0x8888, 0xe4ee, 0xe9e8, 0xecc4, 0xd44e, 0xcec8, 0x4c9e, 0x8d9e, 0x499e, 0xe9ed, 0x9984, 0x494e, 0x8de8, 0xd99c, 0x489e, 0xe8cd, 0x8c98, 0xc8de, 0x8d9d, 0xe48d, 0xe998, 0xc8ed, 0x4c98, 0x999c, 0xcde8, 0x4989, 0x9ec4, 0x44cc, 0xce94, 0xdcdc, 0x8ccd, 0x9999, 0x4e98, 0x94ed, 0xee4d, 0xcecc)
//@ arg c: f32[R, C] poison
//@ expect c: sum(k, 0, D / 2, a(i, k) * b(j, k / 2 * 4 + (m(i, k / 8) >> (k / 2 % 4 * 4 + k % 2 * 2) & 3)))
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 2, instances((R, C, D) = [(1, 1, 4), (130, 17, 60), (200, 31, 124), (256, 32, 128)], VIEW = [0, 1]))]
pub fn sparse_ragged<const R: i32, const C: i32, const D: i32, const VIEW: i32>(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    m: Tensor<u16, 2>,
    c: TensorMut<f32, 2>,
) {
    let rows = 128 * block_id(0);
    let (left, right) = (shared::<f16>([128, 32]), shared::<f16>([32, 64]));
    let (own, other) = (tmem::<u16>([128, 8]), tmem::<f32>([128, 4]));
    let acc = tmem::<f32>([128, 32]);
    let done = barrier(1);
    let here = m.tile([rows, 0], [128, 8]).load();
    let metadata = if VIEW == 0 { own } else { other.view::<u16>([128, 8]) };
    metadata.store(here);
    for step in 0..2 {
        left.store(a.tile([rows, 32 * step], [128, 32]).load());
        right.store(b.tile([0, 64 * step], [32, 64]).load());
        if step == 0 {
            tcgen05::mma_sparse(left, metadata.tile([0, 0], [128, 4]), right.t(), acc).accumulate(false);
        } else {
            tcgen05::mma_sparse(left, metadata.tile([0, 4], [128, 4]), right.t(), acc);
        }
        tcgen05::commit(done);
        done.wait(step % 2);
    }
    c.tile([rows, 0], [128, 32]).store(acc.load());
}
