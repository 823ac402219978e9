//! A and B copied to shared memory, straight and transposed: no bank conflict on the way to the tensor cores.
//@ run: eval, emulate, gpu
//@ compare: rtol=1e-3 atol=1e-3
//@ no-conflicts
//@ arg a: T[64, 64] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg b: T[64, 64] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg out: f32[2, 64, 64] poison
//@ expect out: if i == 0 { sum(n, 0, 64, a(j, n) * b(n, k)) } else { sum(n, 0, 64, a(j, n) * b(k, n)) }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1, instances(T = [f16, bf16]))]
pub fn without_conflicts<T: Number>(a: Tensor<T, 2>, b: Tensor<T, 2>, out: TensorMut<f32, 3>) {
    let sa = shared::<T>([64, 64]);
    let sb = shared::<T>([64, 64]);
    copy_async(a.tile([0, 0], [64, 64]), sa);
    sb.store(b.tile([0, 0], [64, 64]).load());
    copy_async_wait_all();
    sync();
    let zero = zeros::<f32>([64, 64]);
    out.tile([0, 0, 0], [1, 64, 64]).store(dot(sa, sb, zero).expand(0));
    out.tile([1, 0, 0], [1, 64, 64]).store(dot(sa, sb.t(), zero).expand(0));
}
