//! A and B in shared memory, straight and transposed, loaded or given as they are.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: T[32, 64] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg b: T[64, 32] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg out: A[4, 32, 32] poison
//@ expect out: if i == 0 { sum(n, 0, 64, a(j, n) * b(n, k)) } else { if i == 1 { sum(n, 0, 64, b(n, j) * a(k, n)) } else { if i == 2 { sum(n, 0, 64, a(j, n) * b(n, k)) } else { sum(n, 0, 64, a(j, n) * a(k, n)) } } }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances((T, A) = [(f16, f32), (bf16, f32), (i8, i32), (f32, f32)], W = [1, 4]))]
pub fn shared_operands<T: Number, A: Number, const W: i32>(a: Tensor<T, 2>, b: Tensor<T, 2>, out: TensorMut<A, 3>) {
    fn put<A: Number>(out: TensorMut<A, 3>, at: i32, x: Tile<A>) {
        out.tile([at, 0, 0], [1, 32, 32]).store(x.expand(0));
    }
    let sa = shared::<T>([32, 64]);
    let sb = shared::<T>([64, 32]);
    sa.store(a.tile([0, 0], [32, 64]).load());
    sb.store(b.tile([0, 0], [64, 32]).load());
    sync();
    let zero = zeros::<A>([32, 32]);
    put(out, 0, dot(sa, sb, zero));
    put(out, 1, dot(sb.t(), sa.t(), zero));
    put(out, 2, dot(sa.load(), sb.load(), zero));
    put(out, 3, dot(sa.load(), sa.t().load(), zero));
}
