//! Matrix products: `mma.sync` on registers. PTX ISA, "Warp Level Matrix Multiply-Accumulate
//! Instructions".
//!
//! Precision. Floating-point operands are widened to f32 without error; every product of two f16,
//! bf16, tf32 or narrower values has at most 22 significant bits and is exact in f32 (but for bf16
//! and tf32 products outside f32's range). The manual leaves open how a tensor core adds them. Two
//! ways are here, [`TensorCore`]: in order of k with f32 rounding, which is fast, and that of an H200,
//! [`tensor_core`]. They agree exactly where no partial sum is rounded. An f16 accumulator is kept in
//! f32 through one instruction and rounded once at its end.
//!
//! Integer products are exact and wrap, or clamp once at the end with `.satfinite`. f64 is a chain of
//! fused multiply-adds in order of increasing k.

use std::borrow::Borrow;

use super::format::{Format, Round};
use super::fragment::{LANES, Register, Register64, a_place, a_place_m8, b_place, c_place};
use super::narrow::{narrow_f16_word, widen_f16_word};
pub use super::operand::{Element, IntElement};
use super::operand::{Lanes, float_a, float_b, int_a, int_b};
use super::{scalar, tensor_core};

/// How floating-point `mma.sync` and `wgmma` add their products; the manual leaves it open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TensorCore {
    /// C first, then the products in order of increasing k, each sum rounded to nearest even in f32.
    #[default]
    InOrder,
    /// Bit for bit as an H200 does, several times slower; [`tensor_core`] has the rules.
    Hopper,
}

/// Eight rows of C and D: the even columns of row `r` in lanes `4 r..4 r + 4`, the odd ones likewise.
pub(super) type Sums = [[f32; LANES]; 2];

/// Adds the products of eight rows, in order of increasing k.
#[inline]
fn add_products<const E: usize>(a: &[Lanes<E>], b: &[Lanes<E>], sums: &mut Sums) {
    for first in [0, 4] {
        // Four rows at a time, whose sums stay in registers over the whole of k.
        let mut block = [[[0f32; 4]; 2]; 4];
        for (i, row) in block.iter_mut().enumerate() {
            for (to, from) in row.iter_mut().zip(&*sums) {
                to.copy_from_slice(&from[4 * (first + i)..4 * (first + i) + 4]);
            }
        }
        for (a, b) in a.iter().zip(b) {
            for within in 0..4 {
                for j in 0..E {
                    for (i, row) in block.iter_mut().enumerate() {
                        let left = a[j][4 * (first + i) + within];
                        for (parity, row) in row.iter_mut().enumerate() {
                            for (n, sum) in row.iter_mut().enumerate() {
                                *sum += left * b[j][8 * within + 4 * parity + n];
                            }
                        }
                    }
                }
            }
        }
        for (i, row) in block.iter().enumerate() {
            for (from, to) in row.iter().zip(&mut *sums) {
                to[4 * (first + i)..4 * (first + i) + 4].copy_from_slice(from);
            }
        }
    }
}

/// All of a floating-point product; `steps` registers of B.
#[inline]
fn product<const E: usize>(
    (left, a): (Element, &[impl Borrow<Register>]),
    (right, b): (Element, &[impl Borrow<Register>]),
    sums: &mut [Sums; 2],
    how: TensorCore,
    c_format: Format,
) {
    let steps = b.len();
    let (a, b) = (float_a::<E>(left, a), float_b::<E>(right, b));
    match how {
        TensorCore::InOrder => {
            for (rows, sums) in a.iter().zip(sums) {
                add_products(&rows[..steps], &b[..steps], sums);
            }
        }
        TensorCore::Hopper => {
            tensor_core::add_products((left, &a), (right, &b), steps, sums, c_format);
        }
    }
}

/// Dispatches on the number of elements in a register, which both operands share.
#[inline]
fn float_product(
    left: (Element, &[impl Borrow<Register>]),
    right: (Element, &[impl Borrow<Register>]),
    sums: &mut [Sums; 2],
    how: TensorCore,
    c_format: Format,
) {
    match right.0.per_register() {
        1 => product::<1>(left, right, sums, how, c_format),
        2 => product::<2>(left, right, sums, how, c_format),
        _ => product::<4>(left, right, sums, how, c_format),
    }
}

/// `mma.sync.aligned.m16n8kK.row.col.f32.L.R.f32`: k is 4 or 8 for tf32, 8 or 16 for f16 and bf16, 16
/// or 32 for 8-bit types, given by the number of registers (A has twice as many as B).
pub fn mma_f32(
    left: Element,
    a: &[impl Borrow<Register>],
    right: Element,
    b: &[impl Borrow<Register>],
    c: &[impl Borrow<Register>; 4],
    how: TensorCore,
) -> [Register; 4] {
    let mut sums = [[[0.0; LANES]; 2]; 2];
    for (sums, c) in sums.as_flattened_mut().iter_mut().zip(c) {
        for (sum, bits) in sums.iter_mut().zip(c.borrow()) {
            *sum = f32::from_bits(*bits);
        }
    }
    float_product((left, a), (right, b), &mut sums, how, Format::F32);
    let mut d = [[0; LANES]; 4];
    for (d, sums) in d.iter_mut().zip(sums.as_flattened()) {
        for (bits, sum) in d.iter_mut().zip(sums) {
            *bits = canonical(*sum);
        }
    }
    d
}

/// `mma.sync.aligned.m16n8kK.row.col.f16.L.R.f16`: as [`mma_f32`], with C and D in f16.
pub fn mma_f16(
    left: Element,
    a: &[impl Borrow<Register>],
    right: Element,
    b: &[impl Borrow<Register>],
    c: &[impl Borrow<Register>; 2],
    how: TensorCore,
) -> [Register; 2] {
    let mut sums = [[[0.0; LANES]; 2]; 2];
    for ([even, odd], c) in sums.iter_mut().zip(c) {
        for ((even, odd), word) in even.iter_mut().zip(odd).zip(c.borrow()) {
            *even = widen_f16_word(*word);
            *odd = widen_f16_word(*word >> 16);
        }
    }
    float_product((left, a), (right, b), &mut sums, how, Format::F16);
    if how == TensorCore::Hopper {
        for sum in sums.as_flattened_mut().as_flattened_mut() {
            *sum = tensor_core::as_f16(*sum);
        }
    }
    let mut d = [[0; LANES]; 2];
    for (d, [even, odd]) in d.iter_mut().zip(&sums) {
        for ((word, even), odd) in d.iter_mut().zip(even).zip(odd) {
            *word = narrow_f16_word(*even) | narrow_f16_word(*odd) << 16;
        }
    }
    d
}

/// The f32 bits, with NaN as tensor cores give it.
#[inline]
pub(super) fn canonical(x: f32) -> u32 {
    if x.is_nan() { scalar::NAN_F32 } else { x.to_bits() }
}

/// What an integer accumulation does beyond the 32-bit range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accumulate {
    /// Wraps.
    Wrap,
    /// `.satfinite`: clamps.
    Saturate,
}

impl Accumulate {
    /// `c` plus an exact sum of products.
    #[inline]
    pub const fn apply(self, c: u32, products: i32) -> u32 {
        match self {
            Self::Wrap => c.wrapping_add(products.cast_unsigned()),
            Self::Saturate => c.cast_signed().saturating_add(products).cast_unsigned(),
        }
    }
}

/// What integer sums start with: from 2^23 to 2^24 the bits of an f32 count in ones. The products of
/// one instruction add up to 2^21 at most, so every sum stays there.
pub(super) const COUNT_FROM: f32 = 12_582_912.0;

/// Eight rows of an integer product, added to C.
#[inline]
fn add_int_products<const E: usize>(
    a: &[Lanes<E>],
    b: &[Lanes<E>],
    c: [&Register; 2],
    accumulate: Accumulate,
) -> [Register; 2] {
    let mut sums = [[COUNT_FROM; LANES]; 2];
    add_products(a, b, &mut sums);
    let mut d = [[0; LANES]; 2];
    for ((d, c), sums) in d.iter_mut().zip(c).zip(&sums) {
        for ((d, c), sum) in d.iter_mut().zip(c).zip(sums) {
            let products = sum.to_bits().wrapping_sub(COUNT_FROM.to_bits()).cast_signed();
            *d = accumulate.apply(*c, products);
        }
    }
    d
}

fn int_product<const E: usize>(
    (left, a): (IntElement, &[impl Borrow<Register>]),
    (right, b): (IntElement, &[impl Borrow<Register>]),
    c: &[impl Borrow<Register>; 4],
    accumulate: Accumulate,
) -> [Register; 4] {
    let steps = b.len();
    let (a, b) = (int_a::<E>(left, a), int_b::<E>(right, b));
    let [upper, lower] = a.each_ref().map(|rows| &rows[..steps]);
    let [c0, c1, c2, c3] = c.each_ref().map(Borrow::borrow);
    let [d0, d1] = add_int_products(upper, &b[..steps], [c0, c1], accumulate);
    let [d2, d3] = add_int_products(lower, &b[..steps], [c2, c3], accumulate);
    [d0, d1, d2, d3]
}

/// `mma.sync.aligned.m16n8kK.row.col{.satfinite}.s32.L.R.s32`: k is 16 or 32 for 8-bit types, 32 or
/// 64 for 4-bit types, given by the number of registers.
pub fn mma_s32(
    left: IntElement,
    a: &[impl Borrow<Register>],
    right: IntElement,
    b: &[impl Borrow<Register>],
    c: &[impl Borrow<Register>; 4],
    accumulate: Accumulate,
) -> [Register; 4] {
    if right.per_register() == 4 {
        int_product::<4>((left, a), (right, b), c, accumulate)
    } else {
        int_product::<8>((left, a), (right, b), c, accumulate)
    }
}

/// `mma.sync.aligned.m8n8kK.row.col{.satfinite}.s32.L.R.s32`: k16 of 8-bit or k32 of 4-bit elements.
pub fn mma_s32_m8(
    left: IntElement,
    a: &Register,
    right: IntElement,
    b: &Register,
    c: &[impl Borrow<Register>; 2],
    accumulate: Accumulate,
) -> [Register; 2] {
    fn rows<const E: usize>(
        left: IntElement,
        a: &Register,
        right: IntElement,
        b: &Register,
        c: [&Register; 2],
        accumulate: Accumulate,
    ) -> [Register; 2] {
        let ([[a, _], _], [b, _]) = (int_a::<E>(left, &[a]), int_b::<E>(right, &[b]));
        add_int_products(&[a], &[b], c, accumulate)
    }
    let c = c.each_ref().map(Borrow::borrow);
    if right.per_register() == 4 {
        rows::<4>(left, a, right, b, c, accumulate)
    } else {
        rows::<8>(left, a, right, b, c, accumulate)
    }
}

/// The operation of a single-bit `mma`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitOp {
    /// `.xor.popc`
    Xor,
    /// `.and.popc`
    And,
}

/// `mma.sync.aligned.m16n8kK.row.col.s32.b1.b1.s32.op.popc`: k 128 (two registers of A, one of B) or
/// 256 (four and two).
pub fn mma_b1(
    op: BitOp,
    a: &[impl Borrow<Register>],
    b: &[impl Borrow<Register>],
    c: &[impl Borrow<Register>; 4],
) -> [Register; 4] {
    let mut d = c.each_ref().map(|register| *register.borrow());
    for (number, register) in d.iter_mut().enumerate() {
        for (lane, word) in register.iter_mut().enumerate() {
            let place = c_place(number, lane);
            let upper = place.row / 8;
            let mut ones = 0;
            for (step, right) in b.iter().enumerate() {
                let Some(left) = a.get(2 * step + upper) else { continue };
                for within in 0..4 {
                    let left = left.borrow()[4 * (place.row % 8) + within];
                    let right = right.borrow()[4 * place.column + within];
                    ones += match op {
                        BitOp::Xor => left ^ right,
                        BitOp::And => left & right,
                    }
                    .count_ones();
                }
            }
            *word = word.wrapping_add(ones);
        }
    }
    d
}

/// `mma.sync.aligned.m8n8k4.row.col{.rnd}.f64` and the m16 shapes k4, k8, k16 (`sm_90`): two
/// accumulator registers mean 8 rows, four mean 16; k follows from the number of B registers.
pub fn mma_f64<const C: usize>(
    a: &[Register64],
    b: &[Register64],
    c: &[Register64; C],
    round: Round,
) -> [Register64; C] {
    let mut left = [[0u64; 16]; 16];
    let mut right = [[0u64; 16]; 8];
    for (r, register) in a.iter().enumerate() {
        for (lane, word) in register.iter().enumerate() {
            let place = if C == 2 { a_place_m8(1, r, 0, lane) } else { a_place(1, r, 0, lane) };
            if let Some(to) = left[place.row].get_mut(place.column) {
                *to = *word;
            }
        }
    }
    for (r, register) in b.iter().enumerate() {
        for (lane, word) in register.iter().enumerate() {
            let place = b_place(1, r, 0, lane);
            if let Some(to) = right[place.column].get_mut(place.row) {
                *to = *word;
            }
        }
    }
    let depth = (4 * b.len()).min(16);
    let mode = scalar::Mode { round, ..scalar::Mode::RN };
    let mut d = *c;
    for (i, register) in d.iter_mut().enumerate().take(4) {
        for (lane, word) in register.iter_mut().enumerate() {
            let place = c_place(i, lane);
            for (x, y) in left[place.row].iter().zip(&right[place.column]).take(depth) {
                *word = scalar::fma_f64(*x, *y, *word, mode);
            }
        }
    }
    d
}
