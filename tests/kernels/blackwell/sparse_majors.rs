//! Sparse products in tensor memory, either index of both operands contiguous, with every swizzle that an instruction can read, and without
//! one; of halves, whose metadata comes from shared memory, and of bytes.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: T[128, 64] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 5, -4)
//@ arg at: T[64, 128] list(2, -1, 0, 3, -3)
//@ arg b: T[128, 64] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg bt: T[64, 128] list(1, 0, -2, 2, 3)
//@ arg m: u16[128, 8] list(0x8dce, 0x8888, 0xe4ee, 0xe9e8, 0xecc4, 0xd44e, 0xcec8, 0x4c9e, 0x8d9e, 0x499e, 0xe9ed, 0x9984, 0x494e, 0x8de8, 0xd99c, 0x489e, 0xe8cd, 0x8c98, 0xc8de, 0x8d9d, 0xe48d, 0xe998, 0xc8ed, 0x4c98, 0x999c, 0xcde8, 0x4989, 0x9ec4, 0x44cc, 0xce94, 0xdcdc, 0x8ccd, 0x9999, 0x4e98, 0x94ed, 0xee4d, 0xcecc)
//@ arg c: A[512, 64] poison
//@ arg d: A[128, 16] poison
//@ expect d: sum(k, 0, 64, a(i, k) * b(k / 2 * 4 + (m(i, k / 8) >> (k / 2 % 4 * 4 + k % 2 * 2) & 3), j + 16))
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1, instances((T, A) = [(f16, f32), (bf16, f32), (i8, i32)], (S, Q) = [(32, 64), (64, 128)]))]
pub fn sparse_majors<T: Number, A: Number, const S: i32, const Q: i32>(
    a: Tensor<T, 2>,
    at: Tensor<T, 2>,
    b: Tensor<T, 2>,
    bt: Tensor<T, 2>,
    m: Tensor<u16, 2>,
    c: TensorMut<A, 2>,
    d: TensorMut<A, 2>,
) {
    let sa = shared::<T>([128, 64]).with_layout(swizzle(S));
    let sat = shared::<T>([64, 128]).with_layout(swizzle(S));
    let sb = shared::<T>([128, 64]).with_layout(swizzle(S));
    let sbt = shared::<T>([64, 128]).with_layout(swizzle(Q));
    sa.store(a.tile([0, 0], [128, 64]).load());
    sat.store(at.tile([0, 0], [64, 128]).load());
    sb.store(b.tile([0, 0], [128, 64]).load());
    sbt.store(bt.tile([0, 0], [64, 128]).load());
    let narrow = shared::<T>([128, 16]);
    narrow.store(b.tile([0, 16], [128, 16]).load());
    let sm = shared::<u16>([128, 8]);
    sm.store(m.tile([0, 0], [128, 8]).load());
    let metadata = tmem::<u16>([128, 8]);
    let accs = tmem::<A>([4, 128, 64]);
    let few = tmem::<A>([128, 16]);
    let done = barrier(1);
    tcgen05::copy(sm, metadata);
    tcgen05::mma_sparse(sa, metadata, sb, accs[0]).accumulate(false);
    tcgen05::mma_sparse(sa, metadata, sbt.t(), accs[1]).accumulate(false);
    tcgen05::mma_sparse(sat.t(), metadata, sb, accs[2]).accumulate(false);
    tcgen05::mma_sparse(sat.t(), metadata, sbt.t(), accs[3]).accumulate(false);
    tcgen05::mma_sparse(sa, metadata, narrow, few).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
    for at in 0..4 {
        c.tile([128 * at, 0], [128, 64]).store(accs[at].load());
    }
    d.tile([0, 0], [128, 16]).store(few.load());
}
