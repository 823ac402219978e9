//! `mma.sync` and `wgmma` in floating point, bit for bit as an H200 computes them.
//!
//! The manual leaves the order and the precision of a tensor core's additions open.
//! What follows was found by running both on an H200 over random operands (near one another, far apart,
//! subnormal, huge, some infinite), at least 100 000 results of each form, and gives every one of them:
//!
//! 1. All products of one instruction and C enter a single sum. Products are exact.
//! 2. The largest exponent among them is taken, where a product's exponent is the sum of its factors'
//!    (a subnormal number, C among them, has its format's least exponent), and zeros do not count. Every
//!    term is cut towards zero to a multiple of 2^-25 of that power of two.
//! 3. The cut terms are added exactly and the sum is cut towards zero to f32, or rounded to the nearest f16; beyond the
//!    largest f32 it is infinite. Zero is +0, whatever was added or cut.
//! 4. 8-bit operands of `mma.sync` go through f16 in two such sums, first the elements with `k % 4 < 2`,
//!    then the others with the first sum as C; the instruction's C is added at the end, rounded to nearest. Where C and D are
//!    f16, so is the result of each of the three additions.
//! 5. 8-bit operands of `wgmma` enter one sum of 32 products and C, whose terms are cut to multiples of
//!    2^-13 in step 2. An f32 result is cut to 13 bits after the point, and so has 14 in all, C's included; an
//!    f16 result is rounded from the sum.
//!
//! Several `wgmma` on the same accumulator are one such step each: nothing is kept between them but D.
//!
//! One corner was not observed and is a choice: that zero products do not count in step 2 (they could
//! matter only where all other terms are below 2^-14 or so).
//!
//! [`TensorCore::Hopper`](super::matrix::TensorCore) asks for it.
//!
//! How the sum is made quickly: a term plus 1.5 * 2^52 units is an f64 whose low bits count units,
//! rounded to nearest. Half a unit less a little is taken off the term's magnitude before, which turns
//! rounding into cutting: no term has more than 24 bits, so its fraction is at most `1 - 2^-24`.

use super::format::{Format, Round};
use super::lossy::{low16, low32, nearest};
use super::matrix::Sums;
use super::narrow::{narrow_f16, widen_f16};
use super::operand::{Element, Lanes, Rows, STEPS};

/// The exponent of a zero: no sum of two reaches a real one.
const ZERO: i16 = -8000;
/// The exponent of infinities and NaN: no sum with a real one falls below [`SPECIAL`] / 2, even with
/// a zero's.
const SPECIAL: i16 = 16000;
/// How far below the largest exponent the terms are cut, but for 8-bit operands of `wgmma`.
const KEPT_BITS: i16 = 25;
/// As [`KEPT_BITS`], of 8-bit operands of `wgmma`.
const KEPT_BITS_OF_BYTES: i16 = 13;

/// What an addition does with its terms.
#[derive(Clone, Copy, Debug)]
struct Adder {
    /// The exponents of subnormal numbers of A, B and C.
    least: [i16; 3],
    /// How far below the largest exponent the terms are cut.
    kept_bits: i16,
    end: End,
}

/// What becomes of the exact sum of the cut terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// It is cut to f32.
    F32,
    /// It is cut to f32, and the last bit is set where something was cut off: rounding that to f16 is rounding the sum.
    Odd,
}

/// The exponent that a factor enters with; `least` is that of its format's subnormals.
#[inline]
fn exponent(x: f32, least: i16) -> i16 {
    let field = (x.to_bits() >> 23 & 0xff) as i16;
    let finite = (field - 127).max(least);
    let or_special = if field == 0xff { SPECIAL } else { finite };
    if x == 0.0 { ZERO } else { or_special }
}

/// The exponent of a format's subnormals.
const fn least_of(format: Format) -> i16 {
    low16(format.min_exponent().cast_unsigned() as u64).cast_signed()
}

/// The exponent of an operand's subnormals. 8-bit formats are widened to f16 first.
const fn least_exponent(element: Element) -> i16 {
    match element {
        Element::F16 | Element::Mini(_) => least_of(Format::F16),
        Element::Bf16 | Element::Tf32 => least_of(Format::F32),
    }
}

/// What one block of columns needs of B: values, and the exponents that they enter with.
struct Columns<const K: usize> {
    values: [[f64; WIDTH]; K],
    exponents: [[i16; WIDTH]; K],
}

/// Columns summed at once: one vector of f64, so that sums, units and offsets stay in registers.
const WIDTH: usize = 2;

/// Adds 1.5 * 2^52 units of the last place.
const MAGIC: f64 = 6_755_399_441_055_744.0;

/// One sum for each column of a block. Element k of the row is `a[k]` with exponent `exponents[k]`.
#[inline]
fn sum_row<const K: usize>(
    a: &[f64; K],
    exponents: &[i16; K],
    b: &Columns<K>,
    c: [f32; WIDTH],
    adder: Adder,
) -> [f32; WIDTH] {
    let mut largest = c.map(|x| exponent(x, adder.least[2]));
    for (own, others) in exponents.iter().zip(&b.exponents) {
        for (largest, other) in largest.iter_mut().zip(others) {
            *largest = (*largest).max(own.saturating_add(*other));
        }
    }
    if largest.iter().any(|e| *e > SPECIAL / 4) {
        return special(a, exponents, b, c, adder);
    }
    // -300 is below every exponent of a product, so only sums of zeros are raised to it.
    let units = largest.map(|e| {
        f64::from_bits(u64::from((e.max(-300) - adder.kept_bits + 1023).cast_unsigned()) << 52)
    });
    let magic = units.map(|unit| unit * MAGIC);
    let less = units.map(|unit| unit * (0.5 - 1.0 / 33_554_432.0));
    let mut sums = [0u64; WIDTH];
    for n in 0..WIDTH {
        let x = f64::from(c[n]);
        sums[n] = (x - less[n].copysign(x) + magic[n]).to_bits();
    }
    for (x, row) in a.iter().zip(&b.values) {
        for n in 0..WIDTH {
            let product = x * row[n];
            let counted = product - less[n].copysign(product) + magic[n];
            sums[n] = sums[n].wrapping_add(counted.to_bits());
        }
    }
    let mut exact = [0.0; WIDTH];
    for n in 0..WIDTH {
        // Each term brought the bits of `magic` along; one of them stays, and makes an f64 of the count.
        let others = magic[n].to_bits().wrapping_mul(K as u64);
        exact[n] = f64::from_bits(sums[n].wrapping_sub(others)) - magic[n];
    }
    exact.map(|sum| cut_to_f32(sum, adder.end))
}

/// [`sum_row`] where an infinity or NaN takes part in some column.
#[cold]
fn special<const K: usize>(
    a: &[f64; K],
    exponents: &[i16; K],
    b: &Columns<K>,
    c: [f32; WIDTH],
    adder: Adder,
) -> [f32; WIDTH] {
    std::array::from_fn(|n| {
        let terms = || a.iter().zip(&b.values).map(|(x, row)| x * row[n]);
        if !c[n].is_finite() || !terms().all(f64::is_finite) {
            // No sum of finite terms overflows f64, so it tells infinity from NaN.
            return nearest(terms().fold(f64::from(c[n]), |sum, term| sum + term));
        }
        // This column alone, the others zero.
        let keep = |m: usize| m == n;
        let alone = Columns {
            values: b.values.map(|row| std::array::from_fn(|m| if keep(m) { row[m] } else { 0.0 })),
            exponents: b
                .exponents
                .map(|row| std::array::from_fn(|m| if keep(m) { row[m] } else { ZERO })),
        };
        let c = std::array::from_fn(|m| if keep(m) { c[m] } else { 0.0 });
        sum_row(a, exponents, &alone, c, adder)[n]
    })
}

/// Rounds towards zero to f32, but to infinity beyond the largest; zero is +0.
#[inline]
fn cut_to_f32(x: f64, end: End) -> f32 {
    if x.abs() >= f64::from(f32::MIN_POSITIVE) {
        let (kept, cut) = (x.to_bits() & !0x1fff_ffff, x.to_bits() & 0x1fff_ffff);
        let odd = if end == End::Odd && cut != 0 { 0x2000_0000 } else { 0 };
        nearest(f64::from_bits(kept | odd))
    } else {
        let cut = f32::from_bits(low32(Format::F32.encode_f64(x.to_bits(), Round::Zero)));
        if cut == 0.0 { 0.0 } else { cut }
    }
}

/// A sum that is to become f16: those that round to zero give +0.
#[inline]
pub(super) fn as_f16(x: f32) -> f32 {
    // Half the smallest f16 is a tie, which goes to the even zero.
    if x.abs() <= 1.0 / 33_554_432.0 { 0.0 } else { x }
}

/// [`sum_row`] for eight rows. Columns come in any order, C and D in the same.
fn sum<const K: usize>(
    adder: Adder,
    a: &[[f32; K]; 8],
    b: &[[f32; 8]; K],
    c: &[[f32; 8]; 8],
) -> [[f32; 8]; 8] {
    let [least_a, least_b, _] = adder.least;
    let values = a.map(|row| row.map(f64::from));
    let exponents = a.map(|row| row.map(|x| exponent(x, least_a)));
    let mut d = [[0.0; 8]; 8];
    for first in (0..8).step_by(WIDTH) {
        let columns: Columns<K> = Columns {
            values: std::array::from_fn(|k| std::array::from_fn(|n| f64::from(b[k][first + n]))),
            exponents: std::array::from_fn(|k| {
                std::array::from_fn(|n| exponent(b[k][first + n], least_b))
            }),
        };
        for (m, row) in d.iter_mut().enumerate() {
            let c = std::array::from_fn(|n| c[m][first + n]);
            row[first..first + WIDTH].copy_from_slice(&sum_row(
                &values[m],
                &exponents[m],
                &columns,
                c,
                adder,
            ));
        }
    }
    d
}

/// The half of an 8-bit tile's k that one of its two sums takes: `k % 4` in `first` and `first + 1`.
#[inline]
fn half_of<T: Copy + Default, const H: usize>(k: impl Fn(usize) -> T, first: usize) -> [T; H] {
    std::array::from_fn(|i| k(4 * (i / 2) + first + i % 2))
}

/// K elements of 8 bits, H = K / 2 in each sum.
fn sum_bytes<const K: usize, const H: usize>(
    adder: Adder,
    a: &[[f32; K]; 8],
    b: &[[f32; 8]; K],
    c: &[[f32; 8]; 8],
) -> [[f32; 8]; 8] {
    let mut sums = [[0.0; 8]; 8];
    for first in [0, 2] {
        let rows: [[f32; H]; 8] = std::array::from_fn(|m| half_of(|k| a[m][k], first));
        let columns: [[f32; 8]; H] = half_of(|k| b[k], first);
        sums = sum(adder, &rows, &columns, &sums);
        if adder.end == End::Odd {
            sums = sums.map(|row| row.map(|x| widen_f16(narrow_f16(as_f16(x)))));
        }
    }
    // Of two f16 an f32 keeps this many bits that rounding it to f16 afterwards rounds the exact sum.
    std::array::from_fn(|m| std::array::from_fn(|n| sums[m][n] + c[m][n]))
}

/// Register, element and lane (of the first row or column) of element `k`, see [`operand`](super::operand).
fn spot<const E: usize>(k: usize) -> (usize, usize, usize) {
    (k / (4 * E), k % E, k % (4 * E) / E)
}

/// Eight rows of A along k.
fn rows<const E: usize, const K: usize>(a: &Rows<E>) -> [[f32; K]; 8] {
    std::array::from_fn(|m| {
        std::array::from_fn(|k| {
            let (step, j, within) = spot::<E>(k);
            a[step][j][4 * m + within]
        })
    })
}

/// The rows of B.
fn columns<const E: usize, const K: usize>(b: &[Lanes<E>; STEPS]) -> [[f32; 8]; K] {
    std::array::from_fn(|k| {
        let (step, j, within) = spot::<E>(k);
        std::array::from_fn(|place| b[step][j][8 * within + place])
    })
}

/// What [`sum`] and [`sum_bytes`] have in common.
type Summed<const K: usize> =
    fn(Adder, &[[f32; K]; 8], &[[f32; 8]; K], &[[f32; 8]; 8]) -> [[f32; 8]; 8];

fn tile<const E: usize, const K: usize>(
    adder: Adder,
    a: &[Rows<E>; 2],
    b: &[Lanes<E>; STEPS],
    sums: &mut [Sums; 2],
    how: Summed<K>,
) {
    let b = columns::<E, K>(b);
    for (a, [even, odd]) in a.iter().zip(sums) {
        let c = std::array::from_fn(|m| {
            std::array::from_fn(|place| [&*even, &*odd][place / 4][4 * m + place % 4])
        });
        let d = how(adder, &rows::<E, K>(a), &b, &c);
        for (lane, (even, odd)) in even.iter_mut().zip(odd).enumerate() {
            *even = d[lane / 4][lane % 4];
            *odd = d[lane / 4][4 + lane % 4];
        }
    }
}

/// Adds the products of 16 rows, `steps` registers of B, as an H200 does. `c_format` is that of C and D.
pub(super) fn add_products<const E: usize>(
    (left, a): (Element, &[Rows<E>; 2]),
    (right, b): (Element, &[Lanes<E>; STEPS]),
    steps: usize,
    sums: &mut [Sums; 2],
    c_format: Format,
) {
    let least_c = least_of(c_format);
    let least = [least_exponent(left), least_exponent(right), least_c];
    let end = if c_format == Format::F16 { End::Odd } else { End::F32 };
    let adder = Adder { least, kept_bits: KEPT_BITS, end };
    match (E, steps) {
        (1, ..=1) => tile::<E, 4>(adder, a, b, sums, sum),
        (1, _) | (2, ..=1) => tile::<E, 8>(adder, a, b, sums, sum),
        (2, _) => tile::<E, 16>(adder, a, b, sums, sum),
        (_, ..=1) => tile::<E, 16>(adder, a, b, sums, sum_bytes::<16, 8>),
        (_, _) => tile::<E, 32>(adder, a, b, sums, sum_bytes::<32, 16>),
    }
}

/// Adds the products of one `wgmma` as an H200 does: `a` is rows of `K`, `b` one row of `columns` for each k, `d` rows of
/// `columns`, in `c_format`.
pub(super) fn add_rows<const K: usize>(
    (left, a): (Element, &[f32]),
    (right, b): (Element, &[f32]),
    columns: usize,
    d: &mut [f32],
    c_format: Format,
) {
    let least = |element: Element| match element {
        // These are not widened first.
        Element::Mini(mini) => least_of(mini.format()),
        Element::F16 | Element::Bf16 | Element::Tf32 => least_exponent(element),
    };
    let bytes = matches!(left, Element::Mini(_));
    let adder = Adder {
        least: [least(left), least(right), least_of(c_format)],
        kept_bits: if bytes { KEPT_BITS_OF_BYTES } else { KEPT_BITS },
        end: if c_format == Format::F16 { End::Odd } else { End::F32 },
    };
    let (rows, _) = a.as_chunks::<K>();
    let mut block = [[0.0; 8]; K];
    for at in (0..columns).step_by(8) {
        for (block, row) in block.iter_mut().zip(b.chunks_exact(columns)) {
            block.copy_from_slice(&row[at..at + 8]);
        }
        for (rows, d) in rows.as_chunks::<8>().0.iter().zip(d.chunks_exact_mut(8 * columns)) {
            let mut c = [[0.0; 8]; 8];
            for (c, d) in c.iter_mut().zip(d.chunks_exact(columns)) {
                c.copy_from_slice(&d[at..at + 8]);
            }
            let sums = sum(adder, rows, &block, &c);
            for (sums, d) in sums.iter().zip(d.chunks_exact_mut(columns)) {
                for (sum, d) in sums.iter().zip(&mut d[at..at + 8]) {
                    *d = if c_format == Format::F16 {
                        as_f16(*sum)
                    } else if bytes && sum.is_finite() {
                        // 13 of the 23 bits after the point.
                        match f32::from_bits(sum.to_bits() & !0x3ff) {
                            0.0 => 0.0,
                            cut => cut,
                        }
                    } else {
                        *sum
                    };
                }
            }
        }
    }
}
