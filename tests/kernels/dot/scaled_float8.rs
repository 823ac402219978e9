//! MXFP8 and MXFP8 by MXFP4 on tensor cores that read registers: powers of two for each 32 numbers.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: T[M, K] list(1, -2, 0.5, 0, 2, -1, 4, -3, 1.5, 0, -4)
//@ arg b: e5m2[N, K] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg f: e2m1x2[N, K / 2] list(33, 250, 7, 0, 129, 84, 99, 18, 60)
//@ arg s: ue8m0[M, K / 32] list(127, 126, 128, 129, 125)
//@ arg t: ue8m0[N, K / 32] list(128, 127, 125, 130, 126, 124, 129)
//@ arg c: f32[M, N] list(5, -6, 7)
//@ arg out: f32[M, N] poison
//@ arg mixed: f32[M, N] poison
//@ expect out: c(i, j) + sum(k, 0, K, a(i, k) * b(j, k) * ue8m0(s(i, k / 32)) * ue8m0(t(j, k / 32)))
//@ expect mixed: sum(k, 0, K, a(i, k) * e2m1(f(j, k / 2), k % 2) * ue8m0(s(i, k / 32)) * ue8m0(t(j, k / 32)))
use kiln::prelude::*;

#[kernel(target = sm_120a, warps = W, grid = 1,
         instances((T, M, N, K, W) = [(e4m3, 16, 8, 32, 1), (e5m2, 32, 32, 64, 4), (e4m3, 32, 16, 128, 2)]))]
pub fn scaled_float8<T: Scalar, const M: i32, const N: i32, const K: i32, const W: i32>(
    a: Tensor<T, 2>,
    b: Tensor<e5m2, 2>,
    f: Tensor<e2m1x2, 2>,
    s: Tensor<ue8m0, 2>,
    t: Tensor<ue8m0, 2>,
    c: Tensor<f32, 2>,
    out: TensorMut<f32, 2>,
    mixed: TensorMut<f32, 2>,
) {
    let (left, right) = (shared::<T>([M, K]), shared::<e5m2>([N, K]));
    let of_right = shared::<ue8m0>([N, K / 32]);
    left.store(a.tile([0, 0], [M, K]).load());
    right.store(b.tile([0, 0], [N, K]).load());
    of_right.store(t.tile([0, 0], [N, K / 32]).load());
    sync();
    let of_left = s.tile([0, 0], [M, K / 32]).load();
    let acc = c.tile([0, 0], [M, N]).load();
    out.tile([0, 0], [M, N]).store(dot_scaled(left, right.t(), acc, of_left, of_right));
    let fours = f.tile([0, 0], [N, K / 2]).load();
    mixed.tile([0, 0], [M, N]).store(dot_scaled(left, fours.t(), zeros([M, N]), of_left, of_right));
}
