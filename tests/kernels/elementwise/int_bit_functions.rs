//! Counts of bits, reversal, rotation, funnel shifts and high halves of products, in the width of each type.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: T[225] edges(0)
//@ arg b: T[225] edges(1)
//@ arg n: u32[225] list(0, 1, 7, 8, 13, 15, 16, 31, 32, 33, 63, 64, 255, 4294967295)
//@ arg reversed: T[225] poison
//@ arg left: T[225] poison
//@ arg right: T[225] poison
//@ arg high: T[225] poison
//@ arg low: T[225] poison
//@ arg product: T[225] poison
//@ arg counts: u32[3, 225] poison
//@ expect reversed: sum(k, 0, W, ((a(i) >> k) & 1) << (W - 1 - k))
//@ expect left: a(i) << (n(i) & (W - 1)) | (a(i) & ((1 << W) - 1)) >> (W - (n(i) & (W - 1)))
//@ expect right: (a(i) & ((1 << W) - 1)) >> (n(i) & (W - 1)) | a(i) << (W - (n(i) & (W - 1)))
//@ expect high: a(i) << (n(i) & (W - 1)) | (b(i) & ((1 << W) - 1)) >> (W - (n(i) & (W - 1)))
//@ expect low: (b(i) & ((1 << W) - 1)) >> (n(i) & (W - 1)) | a(i) << (W - (n(i) & (W - 1)))
//@ expect product: a(i) * b(i) >> W
//@ expect counts: if i == 0 { sum(k, 0, W, (a(j) >> k) & 1) } else { if i == 1 { sum(k, 0, W, if (a(j) & ((1 << W) - 1)) >> k == 0 { 1 } else { 0 }) } else { sum(k, 1, W + 1, if a(j) & ((1 << k) - 1) == 0 { 1 } else { 0 }) } }
//@ case: edges
//@ case: random
//@ arg a: T[225] bits
//@ arg b: T[225] bits
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1,
         instances((T, W) = [(i8, 8), (i16, 16), (i32, 32), (i64, 64), (u8, 8), (u16, 16), (u32, 32), (u64, 64)]))]
pub fn int_bit_functions<T: Int, const W: i32>(
    a: Tensor<T, 1>,
    b: Tensor<T, 1>,
    n: Tensor<u32, 1>,
    reversed: TensorMut<T, 1>,
    left: TensorMut<T, 1>,
    right: TensorMut<T, 1>,
    high: TensorMut<T, 1>,
    low: TensorMut<T, 1>,
    product: TensorMut<T, 1>,
    counts: TensorMut<u32, 2>,
) {
    let (x, y) = (a.tile([0], [256]).load(), b.tile([0], [256]).load());
    let by = n.tile([0], [256]).load();
    reversed.tile([0], [256]).store(x.reverse_bits());
    left.tile([0], [256]).store(x.rotate_left(by));
    right.tile([0], [256]).store(x.rotate_right(by));
    high.tile([0], [256]).store(x.funnel_shl(y, by));
    low.tile([0], [256]).store(x.funnel_shr(y, by));
    product.tile([0], [256]).store(x.mul_hi(y));
    counts.tile([0, 0], [1, 256]).store(x.count_ones().expand(0));
    counts.tile([1, 0], [1, 256]).store(x.leading_zeros().expand(0));
    counts.tile([2, 0], [1, 256]).store(x.trailing_zeros().expand(0));
}
