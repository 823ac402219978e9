//! Either index of A and B of 16 bits contiguous: `k`, rows or columns.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: T[64, 128] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg at: T[128, 64] list(2, -1, 0, 3, -3)
//@ arg b: T[128, 64] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg bt: T[64, 128] list(1, 0, -2, 2, 3)
//@ arg c: f32[256, 64] poison
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1, instances(T = [f16, bf16]))]
pub fn wgmma_majors<T: Float>(
    #[block(64, 128)] a: TensorMap<T, 2>,
    #[block(128, 64)] at: TensorMap<T, 2>,
    #[block(128, 64)] b: TensorMap<T, 2>,
    #[block(64, 128)] bt: TensorMap<T, 2>,
    c: TensorMut<f32, 2>,
) {
    let (sa, sat) = (shared::<T>([64, 128]), shared::<T>([128, 64]));
    let (sb, sbt) = (shared::<T>([128, 64]), shared::<T>([64, 128]));
    let bar = barrier(1);
    bar.expect(a.block_bytes() + at.block_bytes() + b.block_bytes() + bt.block_bytes());
    tma::load(a, [0, 0], bar, sa);
    tma::load(at, [0, 0], bar, sat);
    tma::load(b, [0, 0], bar, sb);
    tma::load(bt, [0, 0], bar, sbt);
    bar.wait(0);
    let first = wgmma::mma(sa, sb, zeros::<f32>([64, 64]));
    let second = wgmma::mma(sa, sbt.t(), zeros::<f32>([64, 64]));
    let third = wgmma::mma(sat.t(), sb, zeros::<f32>([64, 64]));
    let fourth = wgmma::mma(sat.t(), sbt.t(), zeros::<f32>([64, 64]));
    c.tile([0, 0], [64, 64]).store(wgmma::wait(3, first));
    c.tile([64, 0], [64, 64]).store(wgmma::wait(2, second));
    c.tile([128, 0], [64, 64]).store(wgmma::wait(1, third));
    c.tile([192, 0], [64, 64]).store(wgmma::wait(0, fourth));
}
