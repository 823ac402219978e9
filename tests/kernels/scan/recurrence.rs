//! A linear recurrence, `h[t] = a[t] * h[t - 1] + b[t]`, as a scan of pairs (a selective scan), against the sum that it stands for.
//! Integers wrap, so that a wrong order shows in every place.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: i64[4, 128] list(1, -1, 2, 1, 0, 1, -1, 3, 1, 1, -1)
//@ arg b: i64[4, 128] uniform(-100, 100)
//@ arg h: i64[4, 128] poison
//@ arg before: i64[4, 128] poison
//@ expect h: sum(s, 0, j + 1, b(i, s) * if s == j { 1 } else { product(t, s + 1, j + 1, a(i, t)) })
//@ expect before: if j == 0 { 7 } else { (7 * product(t, 0, j, a(i, t)) + sum(s, 0, j, b(i, s) * if s == j - 1 { 1 } else { product(t, s + 1, j, a(i, t)) })) }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(W = [1, 4, 8]))]
pub fn recurrence<const W: i32>(
    a: Tensor<i64, 2>,
    b: Tensor<i64, 2>,
    h: TensorMut<i64, 2>,
    before: TensorMut<i64, 2>,
) {
    let a = a.tile([0, 0], [4, 128]).load();
    let b = b.tile([0, 0], [4, 128]).load();
    let (_, states) = (a, b).scan(1, |(a, h), (b, g)| (a * b, h * b + g));
    h.tile([0, 0], [4, 128]).store(states);
    let (_, states) = (a, b).scan_exclusive(-1, (1, 7), |(a, h), (b, g)| (a * b, h * b + g));
    before.tile([0, 0], [4, 128]).store(states);
}
