//! FP6 by the other FP6 format, by FP8 and by FP4, on tensor cores that read registers: TMA pads the numbers on the way to shared
//! memory, and `ldmatrix` gives each a byte.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: e2m3x16[M, 8] bits
//@ arg u: e3m2x16[N, 8] bits
//@ arg b: e4m3[N, 128] list(1, -2, 0.5, 0, 2, -1, 4)
//@ arg v: e2m1x2[M, 64] list(33, 250, 7, 0, 129, 84, 99, 18, 60)
//@ arg c: f32[M, N] poison
//@ arg w: f32[M, N] poison
//@ arg z: f32[M, N] poison
//@ expect c: sum(k, 0, 128, e2m3(a(i, k / 16), k % 16) * e3m2(u(j, k / 16), k % 16))
//@ expect w: sum(k, 0, 128, e2m3(a(i, k / 16), k % 16) * b(j, k))
//@ expect z: sum(k, 0, 128, e2m1(v(i, k / 2), k % 2) * e3m2(u(j, k / 16), k % 16))
use kiln::prelude::*;

#[kernel(target = sm_120a, warps = W, grid = 1,
         instances((M, N, W) = [(16, 8, 1), (32, 16, 4), (32, 8, 2)]))]
pub fn float6<const M: i32, const N: i32, const W: i32>(
    #[block(M, 8)] a: TensorMap<e2m3x16, 2>,
    #[block(N, 8)] u: TensorMap<e3m2x16, 2>,
    b: Tensor<e4m3, 2>,
    v: Tensor<e2m1x2, 2>,
    c: TensorMut<f32, 2>,
    w: TensorMut<f32, 2>,
    z: TensorMut<f32, 2>,
) {
    let (left, right, filled) = (shared::<e2m3x16>([M, 8]), shared::<e3m2x16>([N, 8]), barrier(1));
    filled.expect(left.bytes() + right.bytes());
    tma::load(a, [0, 0], filled, left);
    tma::load(u, [0, 0], filled, right);
    let (bytes, fours) = (b.tile([0, 0], [N, 128]).load(), v.tile([0, 0], [M, 64]).load());
    filled.wait(0);
    c.tile([0, 0], [M, N]).store(dot(left, right.t(), zeros([M, N])));
    w.tile([0, 0], [M, N]).store(dot(left, bytes.t(), zeros([M, N])));
    z.tile([0, 0], [M, N]).store(dot(fours, right.t(), zeros([M, N])));
}
