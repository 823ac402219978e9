//! Every element type to every other: truncation and saturation, NaN to 0, low bits of integers, nearest floats.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[64] edges(0)
//@ arg o0: bool[64] poison
//@ arg o1: i8[64] poison
//@ arg o2: i16[64] poison
//@ arg o3: i32[64] poison
//@ arg o4: i64[64] poison
//@ arg o5: u8[64] poison
//@ arg o6: u16[64] poison
//@ arg o7: u32[64] poison
//@ arg o8: u64[64] poison
//@ arg o9: f16[64] poison
//@ arg o10: bf16[64] poison
//@ arg o11: f32[64] poison
//@ arg o12: f64[64] poison
//@ case: edges
//@ case: random bits
//@ arg x: T[64] bits
//@ case: limits of the integers
//@ arg x: T[64] list(127, 127.5, 128, -128, -128.5, -129, 255, 255.5, 256, 32767.5, 32768, -32769, 65535.5, 65536, 2147483647.5, 2147483648, -2147483649, 4294967295.5, 4294967296, 9223372036854775807, -9223372036854775809, 18446744073709551615, 18446744073709551616, -0.5, -1, 0.999, 65504, 65519, 65520, 3.3895e38, 3.4028e38, 1e39, 16777217, 2049, 2051, 257, 259, 33554433, 1e-8, 6e-8, 5.9e-8, 1e-40, 1e-45)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1,
         instances(T = [bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64]))]
pub fn all_pairs<T: Cast>(
    x: Tensor<T, 1>,
    o0: TensorMut<bool, 1>,
    o1: TensorMut<i8, 1>,
    o2: TensorMut<i16, 1>,
    o3: TensorMut<i32, 1>,
    o4: TensorMut<i64, 1>,
    o5: TensorMut<u8, 1>,
    o6: TensorMut<u16, 1>,
    o7: TensorMut<u32, 1>,
    o8: TensorMut<u64, 1>,
    o9: TensorMut<f16, 1>,
    o10: TensorMut<bf16, 1>,
    o11: TensorMut<f32, 1>,
    o12: TensorMut<f64, 1>,
) {
    let x = x.tile([0], [64]).load();
    o0.tile([0], [64]).store(x.cast::<bool>());
    o1.tile([0], [64]).store(x.cast::<i8>());
    o2.tile([0], [64]).store(x.cast::<i16>());
    o3.tile([0], [64]).store(x.cast::<i32>());
    o4.tile([0], [64]).store(x.cast::<i64>());
    o5.tile([0], [64]).store(x.cast::<u8>());
    o6.tile([0], [64]).store(x.cast::<u16>());
    o7.tile([0], [64]).store(x.cast::<u32>());
    o8.tile([0], [64]).store(x.cast::<u64>());
    o9.tile([0], [64]).store(x.cast::<f16>());
    o10.tile([0], [64]).store(x.cast::<bf16>());
    o11.tile([0], [64]).store(x.cast::<f32>());
    o12.tile([0], [64]).store(x.cast::<f64>());
}
