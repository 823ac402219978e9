//! The products of `tcgen05.mma`, on plain arrays of f32. PTX ISA, "`TensorCore` 5th Generation Family Instructions".
//!
//! Precision. Factors are widened to f32 without error, and so is every product of two, but for those of bf16 and
//! tf32 outside f32's range. The manual does not say how the tensor core adds them, and no such device was there
//! to be asked. Chosen is what [`wgmma`] does by default: C first, then the products in order of
//! increasing k, each sum rounded to nearest even in f32; an f16 accumulator is rounded once at the end of an
//! instruction. Of block-scaled products, those that share their scales are added first, in that way from zero; their sum,
//! multiplied by the two scales without error, is added to D and rounded once. Where no partial sum is rounded, every
//! order gives the same bits, those of the hardware included. That is what programs can be compared on.
//!
//! Integer products are exact, and wrap, or clamp once at the end where the descriptor says so.

use super::convert::Minifloat;
use super::format::{Format, Value};
use super::lossy::nearest;
use super::matrix::{Accumulate, COUNT_FROM, canonical};
use super::narrow::{narrow_f16_word, widen_f16_word};
use super::operand::{in_byte, values};
use super::wgmma;

/// The element type of A or of B, and how it is in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Factor {
    F16,
    Bf16,
    Tf32,
    /// A byte each in tensor memory, and in shared memory too where they have eight bits; narrower ones there are
    /// sixteen contiguous in the low end of sixteen bytes.
    Mini(Minifloat),
    /// e2m1, two to a byte.
    Pairs,
    U8,
    S8,
}

/// The number of 16 elements that are contiguous from bit 0 on, `bits` bits each.
fn field(unit: u128, bits: u32, j: usize) -> usize {
    usize::try_from(unit >> (bits as usize * j) & ((1 << bits) - 1)).expect("at most 8 bits")
}

impl Factor {
    /// Elements of sixteen bytes of shared memory.
    pub(crate) const fn per_unit(self) -> usize {
        match self {
            Factor::Tf32 => 4,
            Factor::F16 | Factor::Bf16 => 8,
            Factor::Mini(_) | Factor::U8 | Factor::S8 => 16,
            Factor::Pairs => 32,
        }
    }

    /// Bytes of sixteen bytes of shared memory that the elements fill.
    pub(crate) const fn unit_bytes(self) -> u32 {
        match self {
            Factor::Mini(Minifloat::E2m1) => 8,
            Factor::Mini(Minifloat::E2m3 | Minifloat::E3m2) => 12,
            Factor::Mini(Minifloat::E4m3 | Minifloat::E5m2)
            | Factor::F16
            | Factor::Bf16
            | Factor::Tf32
            | Factor::Pairs
            | Factor::U8
            | Factor::S8 => 16,
        }
    }

    /// Elements of a column of tensor memory.
    pub(crate) const fn per_cell(self) -> usize {
        self.per_unit() / 4
    }

    /// The elements of sixteen bytes of shared memory, in order.
    #[inline]
    pub(crate) fn widen_unit(self, unit: u128, out: &mut [f32; 32]) {
        match self {
            Factor::Mini(mini @ (Minifloat::E2m3 | Minifloat::E3m2)) => {
                for (j, out) in out.iter_mut().take(16).enumerate() {
                    *out = values(mini)[field(unit, 6, j)];
                }
            }
            Factor::Mini(mini @ Minifloat::E2m1) => {
                for (j, out) in out.iter_mut().take(16).enumerate() {
                    *out = values(mini)[field(unit, 4, j)];
                }
            }
            Factor::Mini(Minifloat::E4m3 | Minifloat::E5m2)
            | Factor::F16
            | Factor::Bf16
            | Factor::Tf32
            | Factor::Pairs
            | Factor::U8
            | Factor::S8 => {
                let per_cell = self.per_cell();
                for (word, out) in unit.to_le_bytes().chunks_exact(4).zip(out.chunks_mut(per_cell))
                {
                    let word = word.first_chunk().expect("words have four bytes");
                    self.widen_cell(u32::from_le_bytes(*word), out);
                }
            }
        }
    }

    /// The elements of a column of tensor memory, or of a register, in order.
    #[inline]
    pub(crate) fn widen_cell(self, word: u32, out: &mut [f32]) {
        match self {
            Factor::F16 => {
                out[0] = widen_f16_word(word);
                out[1] = widen_f16_word(word >> 16);
            }
            Factor::Bf16 => {
                out[0] = f32::from_bits(word << 16);
                out[1] = f32::from_bits(word & 0xFFFF_0000);
            }
            Factor::Tf32 => out[0] = f32::from_bits(word & 0xFFFF_E000),
            Factor::Mini(mini) => {
                for (out, byte) in out.iter_mut().zip(word.to_le_bytes()) {
                    *out = in_byte(mini, byte);
                }
            }
            Factor::Pairs => {
                for (j, out) in out.iter_mut().take(8).enumerate() {
                    *out = values(Minifloat::E2m1)[(word >> (4 * j)) as usize & 15];
                }
            }
            Factor::U8 => {
                for (out, byte) in out.iter_mut().zip(word.to_le_bytes()) {
                    *out = f32::from(byte);
                }
            }
            Factor::S8 => {
                for (out, byte) in out.iter_mut().zip(word.to_le_bytes()) {
                    *out = f32::from(byte.cast_signed());
                }
            }
        }
    }
}

/// The type of scales.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// A power of two.
    Ue8m0,
    /// e4m3 without a sign.
    Ue4m3,
}

impl Scale {
    /// The value of a code.
    pub(crate) fn value(self, code: u8) -> f64 {
        match self {
            Scale::Ue8m0 if code == 0xFF => f64::NAN,
            Scale::Ue8m0 => 2f64.powi(i32::from(code) - 127),
            Scale::Ue4m3 => match Format::E4M3.decode(u64::from(code & 0x7F)) {
                Value::Nan | Value::Infinite { .. } => f64::NAN,
                Value::Finite(_) => f64::from(Minifloat::E4m3.widen(code & 0x7F)),
            },
        }
    }
}

/// What D holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accumulator {
    F32,
    F16,
    S32(Accumulate),
}

impl Accumulator {
    /// What the sums of a row start with. Integers are added at the end.
    pub(crate) fn start(self, cells: &[u32], scale: f32, sums: &mut [f32]) {
        for (sum, cell) in sums.iter_mut().zip(cells) {
            match self {
                Accumulator::F32 => *sum = f32::from_bits(*cell) * scale,
                Accumulator::F16 => *sum = widen_f16_word(*cell) * scale,
                Accumulator::S32(_) => {}
            }
        }
    }

    /// What a cell holds at the end; `c` is what it held, if that is added to.
    #[inline]
    pub(crate) fn finish(self, sum: f32, c: Option<u32>) -> u32 {
        match self {
            Accumulator::F32 => canonical(sum),
            Accumulator::F16 => narrow_f16_word(sum),
            Accumulator::S32(accumulate) => {
                // At most 32 products of 8-bit integers.
                let sum = (sum + COUNT_FROM).to_bits().wrapping_sub(COUNT_FROM.to_bits());
                accumulate.apply(c.unwrap_or(0), sum.cast_signed())
            }
        }
    }
}

/// Adds products to rows of sums: `a` is rows of a depth along k, `b` a row of columns for each k. All of them share
/// a scale for each row of A and one for each column of B, if there are scales.
pub(crate) fn add(
    (a, b): (&[f32], &[f32]),
    scales: Option<(&Vec<f64>, &Vec<f64>)>,
    (depth, columns): (usize, usize),
    d: &mut [f32],
) {
    let Some((row_scales, column_scales)) = scales else {
        return wgmma::add_in_order(depth, a, b, columns, d);
    };
    let mut sums = vec![0.0; d.len()];
    wgmma::add_in_order(depth, a, b, columns, &mut sums);
    let rows = d.chunks_exact_mut(columns).zip(sums.chunks_exact(columns));
    for ((d, sums), row) in rows.zip(row_scales) {
        for ((d, sum), column) in d.iter_mut().zip(sums).zip(column_scales) {
            *d = nearest(f64::from(*d) + f64::from(*sum) * row * column);
        }
    }
}

/// Adds the products of a sparse A: for each of its rows, `rows_of_b` says by which row of B each element is multiplied. Sums are those of a
/// dense product of these rows of B.
pub(crate) fn add_sparse(
    (a, b): (&[f32], &[f32]),
    rows_of_b: &[Vec<usize>],
    columns: usize,
    d: &mut [f32],
) {
    let kept = a.len() / rows_of_b.len();
    let lines = a.chunks_exact(kept).zip(d.chunks_exact_mut(columns));
    for ((a, sums), rows) in lines.zip(rows_of_b) {
        for (a, &row) in a.iter().zip(rows) {
            for (sum, b) in sums.iter_mut().zip(&b[row * columns..][..columns]) {
                *sum += a * b;
            }
        }
    }
}
