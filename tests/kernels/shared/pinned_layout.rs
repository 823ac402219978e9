//! Swizzles chosen by the user change nothing but addresses.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[64, 64] bits
//@ arg out: T[64, 64] poison
//@ arg turned: T[64, 64] poison
//@ expect out: x(i, j)
//@ expect turned: x(j, i)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1, instances(T = [i8, f16, f32], S = [0, 32, 64]))]
pub fn pinned_layout<T: Scalar, const S: i32>(x: Tensor<T, 2>, out: TensorMut<T, 2>, turned: TensorMut<T, 2>) {
    let s = shared::<T>([64, 64]).with_layout(swizzle(S));
    s.store(x.tile([0, 0], [64, 64]).load());
    sync();
    out.tile([0, 0], [64, 64]).store(s.load());
    turned.tile([0, 0], [64, 64]).store(s.t().load());
}
