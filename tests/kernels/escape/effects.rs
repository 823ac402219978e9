//! Texts that change memory: as often as they are written, in each thread, also where nobody uses what they give.
//@ run: emulate, gpu
//@ compare: exact
//@ arg counters: i32[4] fill(0)
//@ arg values: f32[64] uniform(-4, 4)
//@ arg n: i32 scalar 5
//@ arg out: f32[64] poison
//@ expect counters: if i == 0 { 3 * 64 } else { if i == 1 { 5 * 64 } else { if i == 2 { 64 + 32 } else { 0 } } }
//@ expect out: if values(i) > 0.0 { 2 * values(i) } else { 0.0 }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 1)]
pub fn effects(counters: TensorMut<i32, 1>, values: Tensor<f32, 1>, n: i32, out: TensorMut<f32, 1>) {
    // One element in each thread.
    const ONE_EACH: Layout = blocked([1], [32], [2], [0]);
    let p = counters.ptr();
    // The same text twice, and once without a result that is used.
    let first = ptx!("atom.global.add.s32 {out}, [{p}], 1;", p = p => i32);
    let second = ptx!("atom.global.add.s32 {out}, [{p}], 1;", p = p => i32);
    device_assert(first < second);
    ptx!("atom.global.add.s32 {out}, [{p}], 1;", p = p => i32);
    // In a loop, as often as it turns; in a branch, if it is taken.
    for _ in 0..n {
        ptx!("red.global.add.s32 [{p} + 4], 1;", p = p);
    }
    if n == 5 {
        ptx!("red.global.add.s32 [{p}], 1;", p = p + 2);
    } else {
        ptx!("red.global.add.s32 [{p}], 1;", p = p + 3);
    }
    // A predicate on the instruction itself.
    let warp = ptx!("{{ .reg .u32 t; mov.u32 t, %tid.x; shr.u32 {out}, t, 5; }}" => i32);
    ptx!("@{second} red.global.add.s32 [{p} + 8], 1;", second = warp == 1, p = p);
    // A store of each element that is positive, over zeros.
    let at = (out.ptr() + arange(0, 64)).to_layout(ONE_EACH);
    let v = values.tile([0], [64]).load();
    out.tile([0], [64]).store(zeros([64]));
    sync();
    ptx!("@{up} st.global.f32 [{at}], {v};", up = v.gt(0.0), at = at, v = 2.0 * v);
}
