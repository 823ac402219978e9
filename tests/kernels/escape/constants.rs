//! Operands that are known when compiling, of each type of register; tiles of halves, of predicates, of one element.
//@ run: emulate, gpu
//@ compare: exact
//@ arg x: f16[4, 64] uniform(-4, 4)
//@ arg y: bf16[64] uniform(-4, 4)
//@ arg out: f16[4, 64] poison
//@ arg brain: bf16[64] poison
//@ arg wide: i64[1] poison
//@ arg double: f64[1] poison
//@ arg flags: bool[64] poison
//@ expect out: (x(i, j) * 2.0) as f16 + 0.5
//@ expect brain: 0.0 - y(i)
//@ expect wide: 3000000000 + 1
//@ expect double: 1.0 / 4.0
//@ expect flags: i % 2 == 1
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn constants(
    x: Tensor<f16, 2>,
    y: Tensor<bf16, 1>,
    out: TensorMut<f16, 2>,
    brain: TensorMut<bf16, 1>,
    wide: TensorMut<i64, 1>,
    double: TensorMut<f64, 1>,
    flags: TensorMut<bool, 1>,
) {
    let x = x.tile([0, 0], [4, 64]).load();
    let (two, half) = (f16::of(2.0), f16::of(0.5));
    let product = ptx!("mul.rn.f16 {out}, {x}, {two};", x = x, two = two => f16);
    let sum = product.map(|e| ptx!("add.rn.f16 {out}, {e}, {half};", e = e, half = half => f16));
    out.tile([0, 0], [4, 64]).store(sum);
    let y = y.tile([0], [64]).load();
    brain.tile([0], [64]).store(ptx!("neg.bf16 {out}, {y};", y = y => bf16));
    let next = ptx!("add.s64 {out}, {n}, 1;", n = 3000000000i64 => i64);
    wide.tile([0], [1]).store(full([1], next));
    let quarter = ptx!("rcp.rn.f64 {out}, {four};", four = 4.0f64 => f64);
    double.tile([0], [1]).store(full([1], quarter));
    // A predicate that is known, one of a tile, and one as the result.
    let odd = (arange(0, 64) & 1).eq(1);
    let both = ptx!("and.pred {out}, {odd}, {yes};", odd = odd, yes = true => bool);
    flags.tile([0], [64]).store(both);
}
