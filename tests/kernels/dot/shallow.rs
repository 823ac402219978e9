//! Halves multiplied at half the depth of the largest instruction.
//@ run: eval, emulate, gpu
//@ snapshot: ptx
//@ compare: exact
//@ arg a: T[M, 8] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg b: T[8, N] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg out: A[M, N] poison
//@ arg transposed: A[M, N] poison
//@ expect out: 3 + sum(k, 0, 8, a(i, k) * b(k, j))
//@ expect transposed: sum(k, 0, 8, a(i, k) * b(k, j))
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1,
         instances((T, A) = [(f16, f32), (f16, f16), (bf16, f32)], (M, N, W) = [(16, 8, 1), (32, 64, 4), (64, 16, 2)]))]
pub fn shallow<T: Float, A: Float, const M: i32, const N: i32, const W: i32>(
    a: Tensor<T, 2>,
    b: Tensor<T, 2>,
    out: TensorMut<A, 2>,
    transposed: TensorMut<A, 2>,
) {
    let a = a.tile([0, 0], [M, 8]).load();
    let b = b.tile([0, 0], [8, N]).load();
    out.tile([0, 0], [M, N]).store(dot(a, b, full::<A>([M, N], A::of(3.0))));
    let sa = shared::<T>([8, M]);
    let sb = shared::<T>([N, 8]);
    sa.store(a.t());
    sb.store(b.t());
    sync();
    transposed.tile([0, 0], [M, N]).store(dot(sa.t(), sb.t(), zeros::<A>([M, N])));
}
