//! Loops whose copies may start an iteration ahead: beside them stands arithmetic on what the loop carries, and the bounds lie at the
//! end of `i32`, where one iteration more would begin somewhere else.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg from: i32 scalar 0
//@ arg to: i32 scalar 64
//@ arg a: f16[16, 64] list(1, -2, 3, 0, 2, -1, 1)
//@ arg b: f16[64, 8] list(1, -1, 2, 0, 1)
//@ arg out: f32[16, 8] poison
//@ arg last: f16[16, 16] poison
//@ case: all
//@ expect last: a(i, 48 + j)
//@ case: none
//@ arg to: i32 scalar 0
//@ expect out: 0.0
//@ expect last: 7.0
//@ case: at the end of i32
//@ arg from: i32 scalar 2147483600
//@ arg to: i32 scalar 2147483647
//@ expect last: a(i, 32 + j)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn rotation(
    from: i32,
    to: i32,
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    out: TensorMut<f32, 2>,
    last: TensorMut<f16, 2>,
) {
    let sa = shared::<f16>([16, 16]);
    let sb = shared::<f16>([16, 8]);
    sa.store(full([16, 16], f16::of(7.0)));
    sync();
    let mut acc = zeros::<f32>([16, 8]);
    let mut count = 1;
    for k in range(from, to, 16) {
        let doubled = acc * 2.0;
        let sum = count * 3 + k - from;
        copy_async(a.tile([0, k - from], [16, 16]), sa);
        copy_async(b.tile([k - from, 0], [16, 8]), sb);
        copy_async_wait_all();
        sync();
        acc = dot(sa.load(), sb.load(), doubled) + sum.cast::<f32>();
        count = sum & 7;
        sync();
    }
    copy_async_wait_all();
    sync();
    last.tile([0, 0], [16, 16]).store(sa.load());
    out.tile([0, 0], [16, 8]).store(acc);
}
