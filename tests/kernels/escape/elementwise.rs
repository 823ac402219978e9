//! Texts on tiles and in closures, of each type of register.
//@ run: emulate, gpu
//@ compare: exact
//@ arg x: f32[8, 16] uniform(-4, 4)
//@ arg row: f32[16] uniform(-4, 4)
//@ arg n: i32 scalar 7
//@ arg out: f32[8, 16] poison
//@ arg ints: i32[8, 16] poison
//@ arg same: i32[8, 16] poison
//@ arg one: f32[1] poison
//@ expect out: (x(i, j) * row(j)) as f32 + x(i, j)
//@ expect ints: if x(i, j) > 0.0 { 7 } else { -7 }
//@ expect same: 1
//@ expect one: most(k, 0, 16, row(k)) + 7.0
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 1)]
pub fn elementwise(
    x: Tensor<f32, 2>,
    row: Tensor<f32, 1>,
    n: i32,
    out: TensorMut<f32, 2>,
    ints: TensorMut<i32, 2>,
    same: TensorMut<i32, 2>,
    one: TensorMut<f32, 1>,
) {
    let x = x.tile([0, 0], [8, 16]).load();
    let row = row.tile([0], [16]).load();
    // Two tiles of different shapes, twice the same operand: two roundings, as the product stands on its own.
    let fused = ptx!(
        "{{ .reg .f32 t;
           mul.rn.f32 t, {a}, {b}; // rounded
           add.rn.f32 {out}, t, {a}; }}",
        a = x, b = row.expand(0) => f32
    );
    out.tile([0, 0], [8, 16]).store(fused);
    // A predicate comes in, a scalar beside the tile.
    let up = x.gt(0.0);
    let signed = ptx!(
        "{{ .reg .s32 t; neg.s32 t, {n}; selp.b32 {out}, {n}, t, {up}; }}",
        n = n, up = up => i32
    );
    ints.tile([0, 0], [8, 16]).store(signed);
    // The same in all three forms, and against the language's own.
    let plain = x.exp2_approx();
    let on_tile = ptx!("ex2.approx.ftz.f32 {out}, {x};", x = x => f32);
    let in_map = x.map(|e| if e > 0.0 {
        ptx!("ex2.approx.ftz.f32 {out}, {e};", e = e => f32)
    } else {
        1.0 / ptx!("ex2.approx.ftz.f32 {out}, {e};", e = -e => f32)
    });
    let near = |a: Tile<f32>| ((a - plain) / plain).abs().lt(1e-5);
    let agree = near(on_tile) & near(in_map);
    same.tile([0, 0], [8, 16]).store(ptx!("selp.b32 {out}, 1, 0, {p};", p = agree => i32));
    // What is the same in every thread decides.
    let largest = ptx!("mov.f32 {out}, {x};", x = row.max(0) => f32).item();
    let more = ptx!("cvt.rn.f32.s32 {out}, {n};", n = n => f32);
    if largest > -100.0 {
        one.tile([0], [1]).store(full([1], largest + more));
    }
}
