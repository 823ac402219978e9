//! Bytes in shared memory, of which `ldmatrix` reads pairs where the depth lies side by side: a straight, b transposed. The other
//! ways round are read element by element.
//@ run: eval, emulate, gpu
//@ snapshot: ptx
//@ compare: exact
//@ arg a: i8[M, K] list(1, -128, 3, 0, 127, -1, 4, -3, 1, 0, -4)
//@ arg b: i8[N, K] list(-1, 2, 0, 127, 1, -128, 1)
//@ arg out: i32[M, N] poison
//@ arg other: i32[K, K] poison
//@ expect out: sum(k, 0, K, a(i, k) * b(j, k))
//@ expect other: 5 + sum(m, 0, M, a(m, i) * a(m, j))
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances((M, N, K, W) = [(16, 8, 32, 1), (32, 16, 64, 2), (64, 64, 32, 4), (32, 64, 128, 4)]))]
pub fn bytes_in_shared<const M: i32, const N: i32, const K: i32, const W: i32>(
    a: Tensor<i8, 2>,
    b: Tensor<i8, 2>,
    out: TensorMut<i32, 2>,
    other: TensorMut<i32, 2>,
) {
    let sa = shared::<i8>([M, K]);
    let sb = shared::<i8>([N, K]);
    copy_async(a.tile([0, 0], [M, K]), sa);
    copy_async(b.tile([0, 0], [N, K]), sb);
    copy_async_wait_all();
    sync();
    out.tile([0, 0], [M, N]).store(dot(sa, sb.t(), zeros::<i32>([M, N])));
    other.tile([0, 0], [K, K]).store(dot(sa.t(), sa, full::<i32>([K, K], 5)));
}
