//! Sparse products of halves, either index of both operands contiguous, with every swizzle that an instruction can read, and without one;
//! metadata in shared memory.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: T[64, 64] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 5, -4)
//@ arg at: T[64, 64] list(2, -1, 0, 3, -3)
//@ arg b: T[128, 64] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg bt: T[64, 128] list(1, 0, -2, 2, 3)
//@ arg m: u16[64, 8] list(0x8dce, 0x8888, 0xe4ee, 0xe9e8, 0xecc4, 0xd44e, 0xcec8, 0x4c9e, 0x8d9e, 0x499e, 0xe9ed, 0x9984, 0x494e, 0x8de8, 0xd99c, 0x489e, 0xe8cd, 0x8c98, 0xc8de, 0x8d9d, 0xe48d, 0xe998, 0xc8ed, 0x4c98, 0x999c, 0xcde8, 0x4989, 0x9ec4, 0x44cc, 0xce94, 0xdcdc, 0x8ccd, 0x9999, 0x4e98, 0x94ed, 0xee4d, 0xcecc)
//@ arg c: f32[256, 64] poison
//@ arg d: f32[64, 8] poison
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1, instances(T = [f16, bf16], S = [32, 64, 128], Q = [64, 128]))]
pub fn wgmma_sparse_majors<T: Float, const S: i32, const Q: i32>(
    a: Tensor<T, 2>,
    at: Tensor<T, 2>,
    b: Tensor<T, 2>,
    bt: Tensor<T, 2>,
    m: Tensor<u16, 2>,
    c: TensorMut<f32, 2>,
    d: TensorMut<f32, 2>,
) {
    let sa = shared::<T>([64, 64]).with_layout(swizzle(S));
    let sat = shared::<T>([64, 64]).with_layout(swizzle(S));
    let sb = shared::<T>([128, 64]).with_layout(swizzle(S));
    let sbt = shared::<T>([64, 128]).with_layout(swizzle(Q));
    sa.store(a.tile([0, 0], [64, 64]).load());
    sat.store(at.tile([0, 0], [64, 64]).load());
    sb.store(b.tile([0, 0], [128, 64]).load());
    sbt.store(bt.tile([0, 0], [64, 128]).load());
    // Rows of sixteen bytes have no swizzle.
    let narrow = shared::<T>([128, 8]);
    narrow.store(b.tile([0, 8], [128, 8]).load());
    let sm = shared::<u16>([64, 8]);
    sm.store(m.tile([0, 0], [64, 8]).load());
    fence_async();
    sync();
    let first = wgmma::mma_sparse(sa, sm, sb, zeros::<f32>([64, 64]));
    let second = wgmma::mma_sparse(sa, sm, sbt.t(), zeros::<f32>([64, 64]));
    let third = wgmma::mma_sparse(sat.t(), sm, sb, zeros::<f32>([64, 64]));
    let fourth = wgmma::mma_sparse(sat.t(), sm, sbt.t(), zeros::<f32>([64, 64]));
    c.tile([0, 0], [64, 64]).store(wgmma::wait(3, first));
    c.tile([64, 0], [64, 64]).store(wgmma::wait(2, second));
    c.tile([128, 0], [64, 64]).store(wgmma::wait(1, third));
    c.tile([192, 0], [64, 64]).store(wgmma::wait(0, fourth));
    let fifth = wgmma::mma_sparse(sa, sm, narrow, zeros::<f32>([64, 8]));
    d.tile([0, 0], [64, 8]).store(wgmma::wait(0, fifth));
}
