//! The same bits as another type, of tiles and of scalars, there and back.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: u32[64] list(0, 1, 2147483648, 1065353216, 4286578687, 2139095040, 4286578688, 8388608, 3212836864, 123456789)
//@ arg y: u16[64] list(0, 1, 32768, 15360, 31743, 31744, 64512, 1024, 48128, 12345)
//@ arg z: i64[64] list(0, 1, -9223372036854775808, 4607182418800017408, 9218868437227405312, -4503599627370496, 1000)
//@ arg floats: f32[64] poison
//@ arg words: u32[64] poison
//@ arg halves: u16[64] poison
//@ arg longs: i64[64] poison
//@ arg bytes: i8[64] poison
//@ arg ones: u32[64] poison
//@ expect words: x(i) ^ 2147483648
//@ expect halves: y(i) ^ 32768
//@ expect longs: z(i) ^ (1 << 63)
//@ expect bytes: y(i) & 127
//@ expect ones: 1065353216
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 1)]
pub fn bitcast(
    x: Tensor<u32, 1>,
    y: Tensor<u16, 1>,
    z: Tensor<i64, 1>,
    floats: TensorMut<f32, 1>,
    words: TensorMut<u32, 1>,
    halves: TensorMut<u16, 1>,
    longs: TensorMut<i64, 1>,
    bytes: TensorMut<i8, 1>,
    ones: TensorMut<u32, 1>,
) {
    let x = x.tile([0], [64]).load();
    floats.tile([0], [64]).store(x.bitcast());
    // A change of sign shows that the bits were those of a float.
    words.tile([0], [64]).store((-x.bitcast::<f32>()).bitcast());
    let y = y.tile([0], [64]).load();
    halves.tile([0], [64]).store((-y.bitcast::<f16>()).bitcast::<bf16>().bitcast());
    let z = z.tile([0], [64]).load();
    longs.tile([0], [64]).store((-z.bitcast::<f64>()).bitcast());
    bytes.tile([0], [64]).store((y.cast::<u8>() & 127).bitcast::<e4m3>().bitcast::<i8>());
    ones.tile([0], [64]).store(full([64], f32::from_bits(1.0f32.to_bits()).bitcast::<u32>()));
}
