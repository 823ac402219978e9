//! Instructions of integers that the language lacks; two results; words and their halves.
//@ run: emulate, gpu
//@ compare: exact
//@ arg a: i32[100] uniform(-100000, 100000)
//@ arg b: i32[100] uniform(-100000, 100000)
//@ arg wide: i64[100] uniform(-100000, 100000)
//@ arg sad: i32[128] poison
//@ arg found: i32[128] poison
//@ arg low: i32[128] poison
//@ arg high: i32[128] poison
//@ arg back: i64[128] poison
//@ arg product: i64[128] poison
//@ expect sad: if i < 100 { if a(i) < b(i) { b(i) - a(i) + 5 } else { a(i) - b(i) + 5 } } else { 5 }
//@ expect found: 0
//@ expect low: if i < 100 { wide(i) as i32 } else { 0 }
//@ expect high: if i < 100 { if wide(i) < 0 { -1 } else { 0 } } else { 0 }
//@ expect back: if i < 100 { wide(i) } else { 0 }
//@ expect product: if i < 100 { a(i) * b(i) } else { 0 }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1)]
#[expect(clippy::too_many_arguments, reason = "one output for each form")]
pub fn integers(
    a: Tensor<i32, 1>,
    b: Tensor<i32, 1>,
    wide: Tensor<i64, 1>,
    sad: TensorMut<i32, 1>,
    found: TensorMut<i32, 1>,
    low: TensorMut<i32, 1>,
    high: TensorMut<i32, 1>,
    back: TensorMut<i64, 1>,
    product: TensorMut<i64, 1>,
) {
    let a = a.tile([0], [128]).load();
    let b = b.tile([0], [128]).load();
    sad.tile([0], [128]).store(ptx!("sad.s32 {out}, {a}, {b}, 5;", a = a, b = b => i32));
    let bytes = ptx!("dp4a.s32.s32 {out}, {a}, {b}, {c};", a = a, b = b, c = a => i32);
    // The same, byte by byte.
    let byte = |x: Tile<i32>, at: i32| (x << (24 - at)) >> 24;
    let sum = a
        + byte(a, 0) * byte(b, 0)
        + byte(a, 8) * byte(b, 8)
        + byte(a, 16) * byte(b, 16)
        + byte(a, 24) * byte(b, 24);
    found.tile([0], [128]).store(bytes - sum);
    let x = wide.tile([0], [128]).load();
    let (lo, hi) = ptx!("mov.b64 {{{out0}, {out1}}}, {x};", x = x => (i32, i32));
    low.tile([0], [128]).store(lo);
    high.tile([0], [128]).store(hi);
    back.tile([0], [128]).store(ptx!("mov.b64 {out}, {{{lo}, {hi}}};", lo = lo, hi = hi => i64));
    product.tile([0], [128]).store(ptx!("mul.wide.s32 {out}, {a}, {b};", a = a, b = b => i64));
}
