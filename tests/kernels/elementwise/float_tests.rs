//! What a number is, reciprocals, integral powers and bounds, of tiles and of scalars.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[64] list(0.0, -0.0, 1.0, -1.5, 2.0, 0.5, -4.0, inf, -inf, nan, 3.0, 0.25, -2.0)
//@ arg kinds: i32[64] poison
//@ arg of_scalars: i32[64] poison
//@ arg recip: T[64] poison
//@ arg cubes: T[64] poison
//@ arg tenth: T[64] poison
//@ arg inverse: T[64] poison
//@ arg ones: T[64] poison
//@ arg bounded: T[64] poison
//@ expect kinds: if x(i) != x(i) { 1 } else { if x(i) == inf || x(i) == -inf { 2 } else { 4 } }
//@ expect of_scalars: (if x(i) != x(i) { 1 } else { if x(i) == inf || x(i) == -inf { 2 } else { 4 } }) + (if x(i) == 2.0 || x(i) == -2.0 { 8 } else { 0 })
//@ expect recip: 1.0 / x(i)
//@ expect cubes: x(i) * x(i) * x(i)
//@ expect inverse: 1.0 / (x(i) * x(i))
//@ expect ones: 1.0
//@ expect bounded: if x(i) != x(i) { -1.0 } else { if x(i) < -1.0 { -1.0 } else { if x(i) > 1.0 { 1.0 } else { x(i) } } }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1, instances(T = [f16, bf16, f32, f64]))]
pub fn float_tests<T: Float>(
    x: Tensor<T, 1>,
    kinds: TensorMut<i32, 1>,
    of_scalars: TensorMut<i32, 1>,
    recip: TensorMut<T, 1>,
    cubes: TensorMut<T, 1>,
    tenth: TensorMut<T, 1>,
    inverse: TensorMut<T, 1>,
    ones: TensorMut<T, 1>,
    bounded: TensorMut<T, 1>,
) {
    let v = x.tile([0], [64]).load();
    let kind = select(v.is_nan(), 1, 0) + select(v.is_infinite(), 2, 0) + select(v.is_finite(), 4, 0);
    kinds.tile([0], [64]).store(kind);
    for at in 0..64 {
        let one = x.tile([at], [1]).load().item().cast::<f32>();
        let nan = if one.is_nan() { 1 } else { 0 };
        let infinite = if one.is_infinite() { 2 } else { 0 };
        let finite = if one.is_finite() { 4 } else { 0 };
        let whole = if one.powi(2).recip() == 0.25 { 8 } else { 0 };
        of_scalars.tile([at], [1]).store(full([1], nan + infinite + finite + whole));
    }
    recip.tile([0], [64]).store(v.recip());
    cubes.tile([0], [64]).store(v.powi(3));
    tenth.tile([0], [64]).store(v.powi(10));
    inverse.tile([0], [64]).store(v.powi(-2));
    ones.tile([0], [64]).store(v.powi(0));
    bounded.tile([0], [64]).store(v.clamp(T::of(-1.0), T::of(1.0)));
}
