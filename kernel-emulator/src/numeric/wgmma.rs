//! The products of `wgmma`: 16 rows, which is one warp's share, on plain arrays of f32. PTX ISA,
//! "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions".
//!
//! Precision. Factors are widened to f32 without error. C comes first, then the products in order of
//! increasing k, each sum rounded to nearest even in f32; an f16 accumulator is rounded once at the end.
//! That is [`TensorCore::InOrder`]. With [`TensorCore::Hopper`] the bits are those of an H200, which for FP8 numbers
//! keeps 14 bits of a sum: [`tensor_core`](super::tensor_core) has the rules. The two agree where no partial sum has
//! more bits than that.
//!
//! Integer products are exact: 32 products of 8-bit values are below 2^24. They wrap, or clamp once at the
//! end with `.satfinite`.
//!
//! A row of B and of D is in the order of D's registers: in each eight columns, the even ones come before
//! the odd ones ([`place`]). Four neighbours are then four neighbouring lanes of one register, so nothing
//! has to be moved one by one.

use super::format::Format;
use super::fragment::{LANES, Register};
use super::matrix::{Accumulate, COUNT_FROM, TensorCore, canonical};
use super::narrow::{narrow_f16_word, widen_f16_word};
use super::operand::{Element, IntElement};
use super::tensor_core;

/// Rows of one warp.
pub(crate) const ROWS: usize = 16;

/// The element type of A or of B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Factor {
    Float(Element),
    Int(IntElement),
}

impl Factor {
    /// Bytes of one element.
    pub(crate) const fn bytes(self) -> usize {
        match self {
            Factor::Float(element) => 4 / element.per_register(),
            Factor::Int(element) => 4 / element.per_register(),
        }
    }

    /// Widens the elements of a register, lowest first, into the start of `out`.
    #[inline]
    pub(crate) fn widen(self, word: u32, out: &mut [f32]) {
        match self {
            Factor::Float(Element::F16) => {
                out[0] = widen_f16_word(word);
                out[1] = widen_f16_word(word >> 16);
            }
            Factor::Float(Element::Bf16) => {
                out[0] = f32::from_bits(word << 16);
                out[1] = f32::from_bits(word & 0xFFFF_0000);
            }
            Factor::Float(element @ Element::Tf32) => out[0] = element.widen(word),
            Factor::Float(Element::Mini(mini)) => {
                let values = super::operand::values(mini);
                for (out, byte) in out.iter_mut().zip(word.to_le_bytes()) {
                    *out = values[usize::from(byte)];
                }
            }
            Factor::Int(IntElement::S8) => {
                for (out, byte) in out.iter_mut().zip(word.to_le_bytes()) {
                    *out = f32::from(byte.cast_signed());
                }
            }
            Factor::Int(IntElement::U8) => {
                for (out, byte) in out.iter_mut().zip(word.to_le_bytes()) {
                    *out = f32::from(byte);
                }
            }
            Factor::Int(IntElement::S4 | IntElement::U4) => {
                unreachable!("`wgmma` has no 4-bit types, and decode refuses them")
            }
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

/// Where a column stands in a row of B and of D.
pub(crate) const fn place(column: usize) -> usize {
    column / 8 * 8 + column % 2 * 4 + column % 8 / 2
}

/// The first row, and the first of four places, of a 32-bit accumulator register's lanes 0 to 3; each
/// further four lanes are one row below.
const fn spot(register: usize) -> (usize, usize) {
    (8 * (register / 2 % 2), register / 4 * 8 + register % 2 * 4)
}

/// Adds a warp's products: `d` is 16 rows of `columns`, `a` 16 rows along k, `b` one row of `columns` for
/// each k.
pub(crate) fn add_products(
    (left, a): (Factor, &[f32]),
    (right, b): (Factor, &[f32]),
    (accumulator, columns): (Accumulator, usize),
    d: &mut [f32],
    how: TensorCore,
) {
    if let (TensorCore::Hopper, Factor::Float(left), Factor::Float(right)) = (how, left, right) {
        let c_format = if accumulator == Accumulator::F16 { Format::F16 } else { Format::F32 };
        let (a, b, depth) = ((left, a), (right, b), a.len() / ROWS);
        return match depth {
            8 => tensor_core::add_rows::<8>(a, b, columns, d, c_format),
            16 => tensor_core::add_rows::<16>(a, b, columns, d, c_format),
            32 => tensor_core::add_rows::<32>(a, b, columns, d, c_format),
            depth => unreachable!("k is 32 bytes, so not {depth} elements"),
        };
    }
    add_in_order(a.len() / ROWS, a, b, columns, d);
}

/// Adds a warp's products of a sparse A: `a` and `d` as for [`add_products`], `b` twice as many rows; `rows` says for each row of `a` by
/// which row of `b` each of its elements is multiplied. Sums are those of a dense product of these rows.
pub(crate) fn add_sparse_products(
    (left, a): (Factor, &[f32]),
    (right, b): (Factor, &[f32]),
    rows: &[Vec<usize>; ROWS],
    (accumulator, columns): (Accumulator, usize),
    d: &mut [f32],
    how: TensorCore,
) {
    let depth = a.len() / ROWS;
    let row_of_b = |row: usize| &b[row * columns..][..columns];
    let floats = matches!((left, right), (Factor::Float(_), Factor::Float(_)));
    if how == TensorCore::Hopper && floats {
        // All rows are multiplied by what one of them takes, which stays.
        for (row, rows) in rows.iter().enumerate() {
            let taken: Vec<f32> =
                rows.iter().flat_map(|&row| row_of_b(row).iter().copied()).collect();
            let mut all = d.to_vec();
            let shape = (accumulator, columns);
            add_products((left, a), (right, &taken), shape, &mut all, how);
            let own = row * columns..(row + 1) * columns;
            d[own.clone()].copy_from_slice(&all[own]);
        }
        return;
    }
    let lines = a.chunks_exact(depth).zip(d.chunks_exact_mut(columns));
    for ((left, sums), rows) in lines.zip(rows) {
        for (left, &row) in left.iter().zip(rows) {
            for (sum, right) in sums.iter_mut().zip(row_of_b(row)) {
                *sum += left * right;
            }
        }
    }
}

/// Adds products in order of k: `a` is rows along k of a `depth`, in fours, `d` as many rows of `columns`, `b` one row of
/// `columns` for each k.
pub(crate) fn add_in_order(depth: usize, a: &[f32], b: &[f32], columns: usize, d: &mut [f32]) {
    match depth {
        8 => add_rows::<8>(a, b, columns, d),
        16 => add_rows::<16>(a, b, columns, d),
        32 => add_rows::<32>(a, b, columns, d),
        depth => unreachable!("k is 32 bytes, or shares scales, so not {depth} elements"),
    }
}

/// [`add_products`] in order, for `K` elements along k.
fn add_rows<const K: usize>(a: &[f32], b: &[f32], columns: usize, d: &mut [f32]) {
    let (rows, _) = a.as_chunks::<K>();
    // Eight columns, packed once, by four rows, whose sums stay in registers over the whole of k.
    let mut right = [[0f32; 8]; K];
    for at in (0..columns).step_by(8) {
        for (right, row) in right.iter_mut().zip(b.chunks_exact(columns)) {
            right.copy_from_slice(&row[at..at + 8]);
        }
        for (four, d) in rows.as_chunks::<4>().0.iter().zip(d.chunks_exact_mut(4 * columns)) {
            let mut block: [[f32; 8]; 4] = std::array::from_fn(|i| {
                *d[i * columns + at..].first_chunk().expect("columns come in eights")
            });
            for (k, right) in right.iter().enumerate() {
                for (row, sums) in four.iter().zip(&mut block) {
                    let left = row[k];
                    for (sum, right) in sums.iter_mut().zip(right) {
                        *sum += left * right;
                    }
                }
            }
            for (i, sums) in block.iter().enumerate() {
                d[i * columns + at..][..8].copy_from_slice(sums);
            }
        }
    }
}

/// What the sums start with: the accumulator's registers. Integers are added at the end.
pub(crate) fn start<'a>(
    accumulator: Accumulator,
    registers: impl Iterator<Item = &'a Register>,
    columns: usize,
    d: &mut [f32],
) {
    for (i, register) in registers.enumerate() {
        match accumulator {
            Accumulator::F32 => {
                let (row, at) = spot(i);
                for (g, four) in register.chunks_exact(4).enumerate() {
                    let sums = &mut d[(row + g) * columns + at..][..4];
                    for (sum, bits) in sums.iter_mut().zip(four) {
                        *sum = f32::from_bits(*bits);
                    }
                }
            }
            Accumulator::F16 => {
                let (row, at) = spot(2 * i);
                for (g, four) in register.chunks_exact(4).enumerate() {
                    let sums = &mut d[(row + g) * columns + at..][..8];
                    for (t, word) in four.iter().enumerate() {
                        sums[t] = widen_f16_word(*word);
                        sums[4 + t] = widen_f16_word(word >> 16);
                    }
                }
            }
            Accumulator::S32(_) => return,
        }
    }
}

/// Four neighbours of a row.
#[inline]
fn quad(sums: &[f32]) -> &[f32; 4] {
    sums.first_chunk().expect("columns come in eights")
}

/// Register `i` of the result; `c` is what it held, if that is added to.
pub(crate) fn result(
    accumulator: Accumulator,
    i: usize,
    columns: usize,
    d: &[f32],
    c: Option<&Register>,
) -> Register {
    let mut out = [0; LANES];
    match accumulator {
        Accumulator::F32 => {
            let (row, at) = spot(i);
            for (g, four) in out.chunks_exact_mut(4).enumerate() {
                let sums = quad(&d[(row + g) * columns + at..]);
                for (bits, sum) in four.iter_mut().zip(sums) {
                    *bits = canonical(*sum);
                }
            }
        }
        Accumulator::F16 => {
            let (row, at) = spot(2 * i);
            for (g, four) in out.chunks_exact_mut(4).enumerate() {
                let sums = &d[(row + g) * columns + at..][..8];
                for (t, word) in four.iter_mut().enumerate() {
                    *word = narrow_f16_word(sums[t]) | narrow_f16_word(sums[4 + t]) << 16;
                }
            }
        }
        Accumulator::S32(accumulate) => {
            let (row, at) = spot(i);
            for (g, four) in out.chunks_exact_mut(4).enumerate() {
                let sums = quad(&d[(row + g) * columns + at..]);
                for (bits, sum) in four.iter_mut().zip(sums) {
                    // Products of 8-bit integers add up to 2^21 at most.
                    *bits = (sum + COUNT_FROM).to_bits().wrapping_sub(COUNT_FROM.to_bits());
                }
            }
            for (lane, bits) in out.iter_mut().enumerate() {
                *bits = accumulate.apply(c.map_or(0, |c| c[lane]), bits.cast_signed());
            }
        }
    }
    out
}

/// The row that a lane of register `i` holds elements of, and the first of their columns: one of them, or
/// two where they are f16.
pub(crate) const fn held(accumulator: Accumulator, i: usize, lane: usize) -> (usize, usize) {
    let (first, column) = match accumulator {
        Accumulator::F32 | Accumulator::S32(_) => (8 * (i / 2 % 2), i / 4 * 8 + i % 2),
        Accumulator::F16 => (8 * (i % 2), i / 2 * 8),
    };
    (first + lane / 4, column + lane % 4 * 2)
}
