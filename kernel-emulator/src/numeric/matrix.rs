//! Matrix products: `mma.sync` on registers, and the product that `wgmma` and `tcgen05.mma` share.
//! PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions" (9.7.14).
//!
//! Precision. Floating-point operands are widened to f32 without error; every product of two f16,
//! bf16, tf32 or narrower values has at most 22 significant bits and is exact in f32 (but for bf16
//! and tf32 products outside f32's range). The sum starts at C and adds the products in order of
//! increasing k, each addition rounded to nearest even in f32. An f16 accumulator is kept in f32
//! through one instruction and rounded once at its end. Tensor cores add a block of products at
//! once, aligned to the largest and cut, in an order and with a precision that the manual leaves open,
//! so the last bits may differ from a device's; sums whose partial sums are all representable agree
//! exactly. [`tensor_core`](super::tensor_core) is the slower sum that agrees with an H200 always.
//!
//! Integer products are exact and wrap, or clamp once at the end with `.satfinite`. f64 is a chain of
//! fused multiply-adds in order of increasing k.

use super::convert::Minifloat;
use super::format::Round;
use super::fragment::{
    Register, Register64, a_place, a_place_m8, b_place, c_place, gather_c, gather_c_halves,
    scatter_d, scatter_d_halves,
};
use super::narrow::{narrow_f16, widen_bf16, widen_f16, widen_f16_word};
use super::scalar;

/// The element type of a floating-point operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// `.f16`
    F16,
    /// `.bf16`
    Bf16,
    /// `.tf32`: the low 13 bits of the register are not read.
    Tf32,
    /// An 8-bit or narrower type, one to a byte.
    Mini(Minifloat),
}

impl Element {
    /// Elements in a 32-bit register.
    pub const fn per_register(self) -> usize {
        match self {
            Self::F16 | Self::Bf16 => 2,
            Self::Tf32 => 1,
            Self::Mini(_) => 4,
        }
    }

    /// The bits of one element, in the low end of `bits`, as f32.
    #[inline]
    pub fn widen(self, bits: u32) -> f32 {
        match self {
            Self::F16 => widen_f16(bits as u16),
            Self::Bf16 => widen_bf16(bits as u16),
            Self::Tf32 => f32::from_bits(bits & 0xffff_e000),
            Self::Mini(mini) => mini.widen(bits as u8),
        }
    }
}

/// `d += a * b` for row-major matrices: `a` is m x k with rows `lda` apart, `b` k x n with rows `ldb`
/// apart, `d` m x n with rows `ldd` apart, all in elements. Each element of `d` takes its products in
/// order of increasing k.
///
/// Slices that are too short end the product early rather than panic.
pub fn multiply_add(
    a: &[f32],
    lda: usize,
    b: &[f32],
    ldb: usize,
    d: &mut [f32],
    ldd: usize,
    shape: Shape,
) {
    let Shape { m, n, k } = shape;
    let mut row = 0;
    while row + 4 <= m {
        let mut column = 0;
        while column + 8 <= n {
            block::<4>(a, lda, b, ldb, d, ldd, k, row, column);
            column += 8;
        }
        edge(a, lda, b, ldb, d, ldd, k, row..row + 4, column..n);
        row += 4;
    }
    while row < m {
        let mut column = 0;
        while column + 8 <= n {
            block::<1>(a, lda, b, ldb, d, ldd, k, row, column);
            column += 8;
        }
        edge(a, lda, b, ldb, d, ldd, k, row..row + 1, column..n);
        row += 1;
    }
}

/// The extents of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Rows of A and D.
    pub m: usize,
    /// Columns of B and D.
    pub n: usize,
    /// Columns of A, rows of B.
    pub k: usize,
}

/// An R x 8 block of D, held in registers over the whole of k.
#[expect(
    clippy::too_many_arguments,
    reason = "the innermost loop of every product; a struct would only rename them"
)]
#[inline]
fn block<const R: usize>(
    a: &[f32],
    lda: usize,
    b: &[f32],
    ldb: usize,
    d: &mut [f32],
    ldd: usize,
    k: usize,
    row: usize,
    column: usize,
) {
    let mut sums = [[0f32; 8]; R];
    for (r, sum) in sums.iter_mut().enumerate() {
        let Some(from) = d.get((row + r) * ldd + column..).and_then(<[f32]>::first_chunk::<8>)
        else {
            return;
        };
        *sum = *from;
    }
    let rows: [&[f32]; R] = std::array::from_fn(|r| a.get((row + r) * lda..).unwrap_or(&[]));
    let depth = rows.iter().fold(k, |depth, row| depth.min(row.len()));
    let rows = rows.map(|row| &row[..depth]);
    for i in 0..depth {
        let Some(values) = b.get(i * ldb + column..).and_then(<[f32]>::first_chunk::<8>) else {
            break;
        };
        for (sum, row) in sums.iter_mut().zip(&rows) {
            let left = row[i];
            for (s, value) in sum.iter_mut().zip(values) {
                *s += left * *value;
            }
        }
    }
    for (r, sum) in sums.iter().enumerate() {
        if let Some(to) =
            d.get_mut((row + r) * ldd + column..).and_then(<[f32]>::first_chunk_mut::<8>)
        {
            *to = *sum;
        }
    }
}

/// What is left to the right of the blocks.
#[expect(clippy::too_many_arguments, reason = "the same operands as the block")]
fn edge(
    a: &[f32],
    lda: usize,
    b: &[f32],
    ldb: usize,
    d: &mut [f32],
    ldd: usize,
    k: usize,
    rows: std::ops::Range<usize>,
    columns: std::ops::Range<usize>,
) {
    for row in rows {
        for column in columns.clone() {
            let Some(to) = d.get_mut(row * ldd + column) else { return };
            for i in 0..k {
                let (Some(x), Some(y)) = (a.get(row * lda + i), b.get(i * ldb + column)) else {
                    return;
                };
                *to += x * y;
            }
        }
    }
}

/// Interleaves the low and the high halves of four words.
#[inline]
fn halves(words: [u32; 4], widen: impl Fn(u32) -> f32) -> [f32; 8] {
    let low = words.map(&widen);
    let high = words.map(|word| widen(word >> 16));
    [low[0], high[0], low[1], high[1], low[2], high[2], low[3], high[3]]
}

#[inline]
fn widen_f16s(words: [u32; 4]) -> [f32; 8] {
    halves(words, widen_f16_word)
}

#[inline]
fn widen_bf16s(words: [u32; 4]) -> [f32; 8] {
    halves(words, |word| f32::from_bits(word << 16))
}

#[inline]
fn widen_tf32s(words: [u32; 4]) -> [f32; 4] {
    words.map(|word| f32::from_bits(word & 0xffff_e000))
}

/// The 256 values of an 8-bit type.
const fn table(mini: Minifloat) -> [f32; 256] {
    let mut values = [0.0; 256];
    let mut code = 0;
    while code < 256 {
        values[code] = mini.widen(code as u8);
        code += 1;
    }
    values
}

static E4M3: [f32; 256] = table(Minifloat::E4m3);
static E5M2: [f32; 256] = table(Minifloat::E5m2);
static E3M2: [f32; 256] = table(Minifloat::E3m2);
static E2M3: [f32; 256] = table(Minifloat::E2m3);
static E2M1: [f32; 256] = table(Minifloat::E2m1);

const fn values(mini: Minifloat) -> &'static [f32; 256] {
    match mini {
        Minifloat::E4m3 => &E4M3,
        Minifloat::E5m2 => &E5M2,
        Minifloat::E3m2 => &E3M2,
        Minifloat::E2m3 => &E2M3,
        Minifloat::E2m1 => &E2M1,
    }
}

#[inline]
fn widen_minis(table: &[f32; 256], words: [u32; 4]) -> [f32; 16] {
    std::array::from_fn(|i| table[(words[i / 4] >> (8 * (i % 4))) as usize & 0xff])
}

/// A 16 x K tile of A from registers. By [`a_place`](super::fragment::a_place), the N elements in the
/// four registers of a group lie side by side along k; `widen` takes them at once.
#[inline]
fn gather_a<const K: usize, const N: usize>(
    a: &[Register],
    widen: impl Fn([u32; 4]) -> [f32; N],
) -> [[f32; K]; 16] {
    let mut tile = [[0f32; K]; 16];
    for (pair, registers) in a.chunks(2).enumerate() {
        for (half, register) in registers.iter().enumerate() {
            let rows = tile.iter_mut().skip(8 * half);
            for (row, words) in rows.zip(register.as_chunks::<4>().0) {
                if let Some(to) = row.get_mut(N * pair..N * (pair + 1)) {
                    to.copy_from_slice(&widen(*words));
                }
            }
        }
    }
    tile
}

/// A K x 8 tile of B from registers, whose groups lie side by side along k too.
#[inline]
fn gather_b<const K: usize, const N: usize>(
    b: &[Register],
    widen: impl Fn([u32; 4]) -> [f32; N],
) -> [[f32; 8]; K] {
    let mut columns = [[0f32; K]; 8];
    for (r, register) in b.iter().enumerate() {
        for (column, words) in columns.iter_mut().zip(register.as_chunks::<4>().0) {
            if let Some(to) = column.get_mut(N * r..N * (r + 1)) {
                to.copy_from_slice(&widen(*words));
            }
        }
    }
    std::array::from_fn(|k| std::array::from_fn(|n| columns[n][k]))
}

#[inline]
fn multiply_tiles<const K: usize>(
    a: &[[f32; K]; 16],
    b: &[[f32; 8]; K],
    c: &[[f32; 8]; 16],
) -> [[f32; 8]; 16] {
    let mut d = *c;
    for (rows, sums) in a.as_chunks::<4>().0.iter().zip(d.as_chunks_mut::<4>().0) {
        // A local copy, so that the sums stay in registers over the whole of k.
        let mut block = *sums;
        for (k, values) in b.iter().enumerate() {
            for (row, sum) in rows.iter().zip(&mut block) {
                for (s, value) in sum.iter_mut().zip(values) {
                    *s += row[k] * value;
                }
            }
        }
        *sums = block;
    }
    d
}

/// A, widened, from the registers of any element type.
#[inline]
pub(super) fn tile_a<const K: usize>(element: Element, a: &[Register]) -> [[f32; K]; 16] {
    match element {
        Element::F16 => gather_a::<K, 8>(a, widen_f16s),
        Element::Bf16 => gather_a::<K, 8>(a, widen_bf16s),
        Element::Tf32 => gather_a::<K, 4>(a, widen_tf32s),
        Element::Mini(mini) => gather_a::<K, 16>(a, |words| widen_minis(values(mini), words)),
    }
}

/// B, widened, from the registers of any element type.
#[inline]
pub(super) fn tile_b<const K: usize>(element: Element, b: &[Register]) -> [[f32; 8]; K] {
    match element {
        Element::F16 => gather_b::<K, 8>(b, widen_f16s),
        Element::Bf16 => gather_b::<K, 8>(b, widen_bf16s),
        Element::Tf32 => gather_b::<K, 4>(b, widen_tf32s),
        Element::Mini(mini) => gather_b::<K, 16>(b, |words| widen_minis(values(mini), words)),
    }
}

fn product<const K: usize>(
    left: Element,
    a: &[Register],
    right: Element,
    b: &[Register],
    c: &[[f32; 8]; 16],
) -> [[f32; 8]; 16] {
    multiply_tiles(&tile_a::<K>(left, a), &tile_b::<K>(right, b), c)
}

/// Dispatches on k, which follows from B's registers: each holds four times as many rows as it has
/// elements.
fn product_of_registers(
    left: Element,
    a: &[Register],
    right: Element,
    b: &[Register],
    c: &[[f32; 8]; 16],
) -> [[f32; 8]; 16] {
    match 4 * right.per_register() * b.len() {
        ..=4 => product::<4>(left, a, right, b, c),
        5..=8 => product::<8>(left, a, right, b, c),
        9..=16 => product::<16>(left, a, right, b, c),
        17.. => product::<32>(left, a, right, b, c),
    }
}

/// `mma.sync.aligned.m16n8kK.row.col.f32.L.R.f32`: k is 4 or 8 for tf32, 8 or 16 for f16 and bf16, 16
/// or 32 for 8-bit types, given by the number of registers (A has twice as many as B).
pub fn mma_f32(
    left: Element,
    a: &[Register],
    right: Element,
    b: &[Register],
    c: &[Register; 4],
) -> [Register; 4] {
    let c = gather_c(c).map(|row| row.map(f32::from_bits));
    let d = product_of_registers(left, a, right, b, &c);
    scatter_d(&d.map(|row| row.map(canonical)))
}

/// `mma.sync.aligned.m16n8kK.row.col.f16.L.R.f16`: as [`mma_f32`], with C and D in f16.
pub fn mma_f16(
    left: Element,
    a: &[Register],
    right: Element,
    b: &[Register],
    c: &[Register; 2],
) -> [Register; 2] {
    let c = gather_c_halves(c).map(|row| row.map(widen_f16));
    let d = product_of_registers(left, a, right, b, &c);
    scatter_d_halves(&d.map(|row| row.map(narrow_f16)))
}

/// The f32 bits, with NaN as tensor cores give it.
#[inline]
fn canonical(x: f32) -> u32 {
    if x.is_nan() { scalar::NAN_F32 } else { x.to_bits() }
}

/// The element type of an integer operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntElement {
    /// `.u8`
    U8,
    /// `.s8`
    S8,
    /// `.u4`
    U4,
    /// `.s4`
    S4,
}

impl IntElement {
    const fn bits(self) -> usize {
        match self {
            Self::U8 | Self::S8 => 8,
            Self::U4 | Self::S4 => 4,
        }
    }

    #[inline]
    const fn widen(self, bits: u32) -> i16 {
        match self {
            Self::U8 => bits as u8 as i16,
            Self::S8 => bits as i8 as i16,
            Self::U4 => (bits & 0xf) as i16,
            Self::S4 => ((bits as i8) << 4 >> 4) as i16,
        }
    }
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
            Self::Wrap => c.wrapping_add(products as u32),
            Self::Saturate => (c as i32).saturating_add(products) as u32,
        }
    }
}

/// The exact sum of products of two equally long runs of widened 8-bit elements; exact up to 2^15 of
/// them.
#[inline]
pub fn dot_i16(a: &[i16], b: &[i16]) -> i32 {
    a.iter().zip(b).map(|(x, y)| i32::from(*x) * i32::from(*y)).sum()
}

/// Widens the elements of four registers of a group, side by side along k.
#[inline]
fn widen_ints<const N: usize>(element: IntElement, words: [u32; 4]) -> [i16; N] {
    let bits = element.bits();
    let e = 32 / bits;
    std::array::from_fn(|i| {
        element.widen(words.get(i / e).map_or(0, |word| word >> (bits * (i % e))))
    })
}

/// Rows of A (registers `first`, `first + step`, ...), or columns of B, along k.
#[inline]
fn gather_ints<const K: usize, const N: usize>(
    element: IntElement,
    registers: &[Register],
    first: usize,
    step: usize,
) -> [[i16; K]; 8] {
    let mut tile = [[0; K]; 8];
    for (r, register) in registers.iter().skip(first).step_by(step).enumerate() {
        for (row, words) in tile.iter_mut().zip(register.as_chunks::<4>().0) {
            if let Some(to) = row.get_mut(N * r..N * (r + 1)) {
                to.copy_from_slice(&widen_ints::<N>(element, *words));
            }
        }
    }
    tile
}

/// [`gather_ints`] with constant element types, so that the widening vectorises.
fn gather_int<const K: usize>(
    element: IntElement,
    registers: &[Register],
    first: usize,
    step: usize,
) -> [[i16; K]; 8] {
    match element {
        IntElement::U8 => gather_ints::<K, 16>(IntElement::U8, registers, first, step),
        IntElement::S8 => gather_ints::<K, 16>(IntElement::S8, registers, first, step),
        IntElement::U4 => gather_ints::<K, 32>(IntElement::U4, registers, first, step),
        IntElement::S4 => gather_ints::<K, 32>(IntElement::S4, registers, first, step),
    }
}

fn int_product<const K: usize>(
    left: IntElement,
    a: &[Register],
    right: IntElement,
    b: &[Register],
    c: &[Register; 4],
    accumulate: Accumulate,
) -> [Register; 4] {
    let columns = gather_int::<K>(right, b, 0, 1);
    let mut d = gather_c(c);
    for (half, sums) in d.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let rows = gather_int::<K>(left, a, half, 2);
        for (row, sums) in rows.iter().zip(sums) {
            for (column, sum) in columns.iter().zip(sums) {
                *sum = accumulate.apply(*sum, dot_i16(row, column));
            }
        }
    }
    scatter_d(&d)
}

/// `mma.sync.aligned.m16n8kK.row.col{.satfinite}.s32.L.R.s32`: k is 16 or 32 for 8-bit types, 32 or
/// 64 for 4-bit types, given by the number of registers.
pub fn mma_s32(
    left: IntElement,
    a: &[Register],
    right: IntElement,
    b: &[Register],
    c: &[Register; 4],
    accumulate: Accumulate,
) -> [Register; 4] {
    match 4 * (32 / right.bits()) * b.len() {
        ..=16 => int_product::<16>(left, a, right, b, c, accumulate),
        17..=32 => int_product::<32>(left, a, right, b, c, accumulate),
        33.. => int_product::<64>(left, a, right, b, c, accumulate),
    }
}

/// `mma.sync.aligned.m8n8kK.row.col{.satfinite}.s32.L.R.s32`: k16 of 8-bit or k32 of 4-bit elements.
pub fn mma_s32_m8(
    left: IntElement,
    a: &Register,
    right: IntElement,
    b: &Register,
    c: &[Register; 2],
    accumulate: Accumulate,
) -> [Register; 2] {
    let rows = gather_int::<32>(left, &[*a], 0, 1);
    let columns = gather_int::<32>(right, &[*b], 0, 1);
    let mut d = *c;
    for (i, register) in d.iter_mut().enumerate() {
        for (lane, word) in register.iter_mut().enumerate() {
            let place = c_place(i, lane);
            *word = accumulate.apply(*word, dot_i16(&rows[place.row], &columns[place.column]));
        }
    }
    d
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
pub fn mma_b1(op: BitOp, a: &[Register], b: &[Register], c: &[Register; 4]) -> [Register; 4] {
    let mut d = *c;
    for (i, register) in d.iter_mut().enumerate() {
        for (lane, word) in register.iter_mut().enumerate() {
            let place = c_place(i, lane);
            let upper = place.row / 8;
            let mut ones = 0;
            for (r, right) in b.iter().enumerate() {
                let Some(left) = a.get(2 * r + upper) else { continue };
                for within in 0..4 {
                    let x = left[4 * (place.row % 8) + within];
                    let y = right[4 * place.column + within];
                    ones += match op {
                        BitOp::Xor => x ^ y,
                        BitOp::And => x & y,
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
