use kiln::prelude::*;

// ANCHOR: generic
/// out = x · factor + 0.5 for each type; a thread computes in f32.
#[kernel(
    target = sm_80,
    warps = 4,
    grid = cdiv(out.dim(0), 256),
    instances(T = [f16, bf16, f32])
)]
pub fn affine<T: Float>(x: Tensor<T, 1>, factor: f32, out: TensorMut<T, 1>) {
    let at = [block_id(0) * 256];
    let wide = x.tile(at, [256]).load().cast::<f32>();
    out.tile(at, [256]).store((wide * factor + 0.5).cast::<T>());
}
// ANCHOR_END: generic

// ANCHOR: literals
/// In the type itself: each operation rounds to T. A type parameter has no literals, so constants are `T::of(..)`.
#[kernel(
    target = sm_80,
    warps = 4,
    grid = cdiv(x.dim(0), 256),
    instances(T = [f16, bf16, f32])
)]
pub fn affine_in_place<T: Float>(x: TensorMut<T, 1>, factor: T) {
    let window = x.tile([block_id(0) * 256], [256]);
    window.store(window.load() * factor + T::of(0.5));
}
// ANCHOR_END: literals

// ANCHOR: conversions
/// What conversions do at the ends of the range.
#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn convert(x: Tensor<f32, 1>, bytes: TensorMut<u8, 1>, words: TensorMut<i32, 1>) {
    let x = x.tile([0], [8]).load();
    bytes.tile([0], [8]).store(x.cast::<u8>());
    words.tile([0], [8]).store(x.cast::<i32>());
}
// ANCHOR_END: conversions

// ANCHOR: arithmetic
/// Integers wrap; division truncates towards zero; a remainder has the sign of the left side.
#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn integers(out: TensorMut<i32, 1>) {
    let at = arange(0, 4) - 2; // -2, -1, 0, 1
    out.tile([0], [4]).store(at + i32::MAX);
    out.tile([4], [4]).store(at * 3 / 2);
    out.tile([8], [4]).store(at * 3 % 2);
}
// ANCHOR_END: arithmetic

// ANCHOR: sums
/// 4096 ones, summed in f16 and in f32.
#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn count(out: TensorMut<f32, 1>) {
    let ones = full([128], f16::of(1.0));
    let mut narrow = zeros::<f16>([128]);
    let mut wide = zeros::<f32>([128]);
    for _ in range(0, 4096, 1) {
        narrow += ones;
        wide += ones.cast::<f32>();
    }
    out.tile([0], [1]).store(narrow.max(0).cast::<f32>().expand(0));
    out.tile([1], [1]).store(wide.max(0).expand(0));
}
// ANCHOR_END: sums

pub fn main() -> kiln::Result<()> {
    let stream = Device::best_for(convert::TARGETS)?.stream()?;
    // ANCHOR: main
    let x = stream.upload(&[2.9, -2.9, 255.9, 256.0, -1.0, 3e9, f32::NAN, f32::NEG_INFINITY], [8])?;
    let (mut bytes, mut words) = (stream.zeros([8])?, stream.zeros([8])?);
    convert(convert::Args { x: &x, bytes: &mut bytes, words: &mut words }).launch(&stream)?;
    println!("u8:  {:?}", bytes.to_vec(&stream)?);
    println!("i32: {:?}", words.to_vec(&stream)?);

    let mut out = stream.zeros([12])?;
    integers(integers::Args { out: &mut out }).launch(&stream)?;
    let out = out.to_vec(&stream)?;
    println!("+ {:?}\n/ {:?}\n% {:?}", &out[..4], &out[4..8], &out[8..]);

    let mut sums = stream.zeros([2])?;
    count(count::Args { out: &mut sums }).launch(&stream)?;
    println!("f16 and f32: {:?}", sums.to_vec(&stream)?);
    // ANCHOR_END: main

    let x = stream.upload(&[f16::from_f32(1.5); 300], [300])?;
    let mut out = stream.zeros([300])?;
    affine::<f16>(affine::Args { x: &x, factor: 2.0, out: &mut out }).launch(&stream)?;
    assert_eq!(out.to_vec(&stream)?, [f16::from_f32(3.5); 300]);
    let factor = f16::from_f32(2.0);
    affine_in_place::<f16>(affine_in_place::Args { x: &mut out, factor }).launch(&stream)?;
    assert_eq!(out.to_vec(&stream)?, [f16::from_f32(7.5); 300]);
    Ok(())
}
