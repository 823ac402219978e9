//! Every element type to and from the FP8 formats: nearest, ties to even, and finite whatever comes;
//! and back.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[256] edges(0)
//@ arg o0: e4m3[256] poison
//@ arg o1: e5m2[256] poison
//@ arg o2: bool[256] poison
//@ arg o3: i8[256] poison
//@ arg o4: u8[256] poison
//@ arg o5: i32[256] poison
//@ arg o6: i64[256] poison
//@ arg o7: f16[256] poison
//@ arg o8: bf16[256] poison
//@ arg o9: f32[256] poison
//@ arg o10: f64[256] poison
//@ case: edges
//@ case: random bits
//@ arg x: T[256] bits
//@ case: neighbours, and the middles between them
//@ arg x: T[256] list(1, 1.0625, 1.125, 1.1875, 1.25, 1.3125, 1.375, 2.25, 2.75, 17, 18, 19, 20, 0.0009765625, 0.00146484375, 0.001953125, 0.0029296875, 0.015625, 0.0146484375, 0.0000076, 0.00001526, 0.0000229, 432, 448, 463, 464, 465, 479, 480, 512, 1e6, 53248, 57344, 61440, 61441, 65504, 65536, 1e30, -1.0625, -1.1875, -0.0029296875, -448, -464, -465, -57344, -61441, -1e30, inf, -inf, nan)
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 2, grid = 1,
         instances(T = [bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, e4m3, e5m2]))]
pub fn float8<T: Cast>(
    x: Tensor<T, 1>,
    o0: TensorMut<e4m3, 1>,
    o1: TensorMut<e5m2, 1>,
    o2: TensorMut<bool, 1>,
    o3: TensorMut<i8, 1>,
    o4: TensorMut<u8, 1>,
    o5: TensorMut<i32, 1>,
    o6: TensorMut<i64, 1>,
    o7: TensorMut<f16, 1>,
    o8: TensorMut<bf16, 1>,
    o9: TensorMut<f32, 1>,
    o10: TensorMut<f64, 1>,
) {
    let x = x.tile([0], [256]).load();
    let (small, wide) = (x.cast::<e4m3>(), x.cast::<e5m2>());
    o0.tile([0], [256]).store(small);
    o1.tile([0], [256]).store(wide);
    o2.tile([0], [256]).store(small.cast::<bool>());
    o3.tile([0], [256]).store(small.cast::<i8>());
    o4.tile([0], [256]).store(wide.cast::<u8>());
    o5.tile([0], [256]).store(wide.cast::<i32>());
    o6.tile([0], [256]).store(small.cast::<i64>());
    o7.tile([0], [256]).store(small.cast::<f16>());
    o8.tile([0], [256]).store(wide.cast::<bf16>());
    o9.tile([0], [256]).store(small.cast::<f32>());
    o10.tile([0], [256]).store(wide.cast::<f64>());
}
