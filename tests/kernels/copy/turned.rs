//! A tile copied by rows, 16 bytes at a time, and read by columns: no bank conflict.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ no-conflicts
//@ arg x: T[M, N] bits
//@ arg out: T[N, M] poison
//@ expect out: x(j, i)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1,
         instances((T, M, N) = [(f16, 64, 64), (f16, 128, 64), (f16, 128, 128), (f32, 64, 64), (f32, 128, 64)]))]
pub fn turned<T: Scalar, const M: i32, const N: i32>(x: Tensor<T, 2>, out: TensorMut<T, 2>) {
    let s = shared::<T>([M, N]);
    copy_async(x.tile([0, 0], [M, N]), s);
    copy_async_wait_all();
    sync();
    out.tile([0, 0], [N, M]).store(s.t().load());
}
