//! A sparse product by steps, of tiles whose number is known at run time: metadata of each step in a tile of its own, behind an allocation of one
//! column; under a condition; and a dense product beside it.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: f16[128, 128] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 5, -4)
//@ arg b: f16[64, 256] list(-1, 2, 0, 3, 1, -2, 5, -3, 4, -4, 6, -5, -6)
//@ arg m: u16[128, 16] list(0x8dce, 0x8888, 0xe4ee, 0xe9e8, 0xecc4, 0xd44e, 0xcec8, 0x4c9e, 0x8d9e, 0x499e, 0xe9ed, 0x9984, 0x494e, 0x8de8, 0xd99c, 0x489e, 0xe8cd, 0x8c98, 0xc8de, 0x8d9d, 0xe48d, 0xe998, 0xc8ed, 0x4c98, 0x999c, 0xcde8, 0x4989, 0x9ec4, 0x44cc, 0xce94, 0xdcdc, 0x8ccd, 0x9999, 0x4e98, 0x94ed, 0xee4d, 0xcecc)
//@ arg c: f32[128, 64] poison
//@ arg d: f32[128, 64] poison
//@ case: all
//@ arg steps: i32 scalar 15
//@ expect c: sum(k, 0, 128, a(i, k) * b(j, k / 2 * 4 + (m(i, k / 8) >> (k / 2 % 4 * 4 + k % 2 * 2) & 3)))
//@ expect d: 3 + sum(k, 0, 32, a(i, k) * b(j, k))
//@ case: the second and the last one
//@ arg steps: i32 scalar 10
//@ expect c: sum(k, 32, 64, a(i, k) * b(j, k / 2 * 4 + (m(i, k / 8) >> (k / 2 % 4 * 4 + k % 2 * 2) & 3))) + sum(k, 96, 128, a(i, k) * b(j, k / 2 * 4 + (m(i, k / 8) >> (k / 2 % 4 * 4 + k % 2 * 2) & 3)))
//@ expect d: 3 + sum(k, 0, 32, a(i, k) * b(j, k))
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn sparse_ring(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    m: Tensor<u16, 2>,
    steps: i32,
    c: TensorMut<f32, 2>,
    d: TensorMut<f32, 2>,
) {
    let (left, right) = (shared::<f16>([4, 128, 32]), shared::<f16>([4, 64, 64]));
    let first = shared::<f16>([64, 32]);
    let one = tmem::<f32>([128, 1]);
    let metadata = tmem::<u16>([4, 128, 4]);
    let (acc, dense) = (tmem::<f32>([128, 64]), tmem::<f32>([128, 64]));
    let done = barrier(1);
    one.store(full([128, 1], 3.0));
    acc.store(zeros([128, 64]));
    first.store(b.tile([0, 0], [64, 32]).load());
    for step in 0..4 {
        left[step].store(a.tile([0, 32 * step], [128, 32]).load());
        right[step].store(b.tile([0, 64 * step], [64, 64]).load());
        metadata[step].store(m.tile([0, 4 * step], [128, 4]).load());
    }
    for step in 0..4 {
        tcgen05::mma_sparse(left[step], metadata[step], right[step].t(), acc).when(steps >> step & 1 != 0);
    }
    tcgen05::mma(left[0], first.t(), dense).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
    c.tile([0, 0], [128, 64]).store(acc.load());
    d.tile([0, 0], [128, 64]).store(dense.load() + one.load().broadcast([128, 64]));
}
