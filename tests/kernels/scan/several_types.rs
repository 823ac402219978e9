//! Six element types in one scan and in one reduction, each combined with a function of its own: running and total sums, products,
//! extremes and masks. Floats are combined in the order that is specified.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: f16[4, 64] uniform(-1, 1)
//@ arg b: bf16[4, 64] uniform(-1, 1)
//@ arg c: f32[4, 64] uniform(-1, 1)
//@ arg d: f64[4, 64] uniform(-1, 1)
//@ arg e: i64[4, 64] bits
//@ arg f: bool[4, 64] list(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0)
//@ arg halves: f16[4, 64] poison
//@ arg brains: bf16[4, 64] poison
//@ arg floats: f32[4, 64] poison
//@ arg doubles: f64[4, 64] poison
//@ arg longs: i64[4, 64] poison
//@ arg seen: bool[4, 64] poison
//@ arg peak: f16[4] poison
//@ arg total: i64[4] poison
//@ arg any: bool[4] poison
//@ expect floats: most(n, j, 64, c(i, n))
//@ expect doubles: least(n, j, 64, d(i, n))
//@ expect longs: sum(n, j, 64, e(i, n)) as i64
//@ expect seen: most(n, j, 64, if f(i, n) { 1 } else { 0 }) == 1
//@ expect peak: most(n, 0, 64, a(i, n))
//@ expect total: sum(n, 0, 64, e(i, n)) as i64
//@ expect any: most(n, 0, 64, if f(i, n) { 1 } else { 0 }) == 1
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(W = [1, 8]))]
#[expect(clippy::too_many_arguments, reason = "one input and one output for each type")]
pub fn several_types<const W: i32>(
    a: Tensor<f16, 2>,
    b: Tensor<bf16, 2>,
    c: Tensor<f32, 2>,
    d: Tensor<f64, 2>,
    e: Tensor<i64, 2>,
    f: Tensor<bool, 2>,
    halves: TensorMut<f16, 2>,
    brains: TensorMut<bf16, 2>,
    floats: TensorMut<f32, 2>,
    doubles: TensorMut<f64, 2>,
    longs: TensorMut<i64, 2>,
    seen: TensorMut<bool, 2>,
    peak: TensorMut<f16, 1>,
    total: TensorMut<i64, 1>,
    any: TensorMut<bool, 1>,
) {
    let a = a.tile([0, 0], [4, 64]).load();
    let b = b.tile([0, 0], [4, 64]).load();
    let c = c.tile([0, 0], [4, 64]).load();
    let d = d.tile([0, 0], [4, 64]).load();
    let e = e.tile([0, 0], [4, 64]).load();
    let f = f.tile([0, 0], [4, 64]).load();
    let (h, r, s, w, l, m) = (a, b, c, d, e, f)
        .scan_reverse(1, |(a, b, c, d, e, f), (g, h, i, j, k, l)| {
            (a + g, b * h, c.max(i), d.min(j), e + k, f | l)
        });
    halves.tile([0, 0], [4, 64]).store(h);
    brains.tile([0, 0], [4, 64]).store(r);
    floats.tile([0, 0], [4, 64]).store(s);
    doubles.tile([0, 0], [4, 64]).store(w);
    longs.tile([0, 0], [4, 64]).store(l);
    seen.tile([0, 0], [4, 64]).store(m);
    let (a, e, f) = (a, e, f).reduce(1, |(a, e, f), (b, g, h)| (a.max(b), e + g, f | h));
    peak.tile([0], [4]).store(a);
    total.tile([0], [4]).store(e);
    any.tile([0], [4]).store(f);
}
