//! `dot` of shared memory: by warpgroups where there are whole ones and the extents allow it, by warps elsewhere.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: T[M, 32] list(1, -2, 3, 0, 2, -1, 1, -3, 1, 0, -1)
//@ arg b: T[32, N] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg plain: f32[M, N] poison
//@ arg turned: f32[M, N] poison
//@ arg registers: f32[M, N] poison
use kiln::prelude::*;

#[kernel(target = [sm_80, sm_90a], warps = W, grid = 1, instances(T = [f16, bf16], (W, M, N) = [(4, 64, 32), (8, 128, 16), (8, 64, 32), (2, 64, 16)]))]
pub fn dot_shared<T: Float, const W: i32, const M: i32, const N: i32>(
    a: Tensor<T, 2>,
    b: Tensor<T, 2>,
    plain: TensorMut<f32, 2>,
    turned: TensorMut<f32, 2>,
    registers: TensorMut<f32, 2>,
) {
    let (sa, sb) = (shared::<T>([M, 32]), shared::<T>([32, N]));
    let (at, bt) = (shared::<T>([32, M]), shared::<T>([N, 32]));
    sa.store(a.tile([0, 0], [M, 32]).load());
    at.store(a.tile([0, 0], [M, 32]).load().t());
    sb.store(b.tile([0, 0], [32, N]).load());
    bt.store(b.tile([0, 0], [32, N]).load().t());
    sync();
    plain.tile([0, 0], [M, N]).store(dot(sa, sb, full::<f32>([M, N], 1.0)));
    turned.tile([0, 0], [M, N]).store(dot(at.t(), bt.t(), full::<f32>([M, N], 2.0)));
    let twice = sa.load() * T::of(2.0);
    registers.tile([0, 0], [M, N]).store(dot(twice, sb, zeros::<f32>([M, N])));
}
