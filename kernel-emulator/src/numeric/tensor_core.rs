//! `mma.sync` in floating point, bit for bit as an H200 computes it.
//!
//! The manual leaves the order and the precision of a tensor core's additions open.
//! What follows was found by running `mma.sync` on an H200 over 400 000 results of random
//! operands (near one another, far apart, subnormal, huge, some infinite), and gives every one of them:
//!
//! 1. All products of one instruction and C enter a single sum. Products are exact.
//! 2. The largest exponent among them is taken, where a product's exponent is the sum of its factors'
//!    (a subnormal factor has the format's least exponent), and zeros do not count. Every term is cut
//!    towards zero to a multiple of 2^-25 of that power of two.
//! 3. The cut terms are added exactly and the sum is cut towards zero to f32; beyond the largest f32
//!    it is infinite. f16 results are then rounded to nearest.
//! 4. 8-bit operands go through f16 in two such sums, first the elements with `k % 4 < 2`, then the
//!    others with the first sum as C; the instruction's C is added at the end, rounded to nearest.
//!
//! Two corners were not observed and are choices: that zero products do not count in step 2 (they could
//! matter only where all other terms are below 2^-14 or so), and that a sum of zeros is +0.
//!
//! [`TensorCore::Hopper`](super::matrix::TensorCore) asks for it.
//!
//! How the sum is made quickly: a term plus 1.5 * 2^52 units is an f64 whose low bits count units,
//! rounded to nearest. Half a unit less a little is taken off the term's magnitude before, which turns
//! rounding into cutting: no term has more than 24 bits, so its fraction is at most `1 - 2^-24`.

use super::format::{Format, Round};
use super::matrix::Sums;
use super::operand::{Element, Lanes, Rows, STEPS};

/// The exponent of a zero: no sum of two reaches a real one.
const ZERO: i16 = -8000;
/// The exponent of infinities and NaN: no sum with a real one falls below [`SPECIAL`] / 2, even with
/// a zero's.
const SPECIAL: i16 = 16000;
/// How far below the largest exponent the terms are cut.
const KEPT_BITS: i16 = 25;

/// The exponent that a factor enters with; `least` is that of its format's subnormals.
#[inline]
fn exponent(x: f32, least: i16) -> i16 {
    let field = (x.to_bits() >> 23 & 0xff) as i16;
    let finite = (field - 127).max(least);
    let or_special = if field == 0xff { SPECIAL } else { finite };
    if x == 0.0 { ZERO } else { or_special }
}

/// The exponent of an operand format's subnormals. 8-bit formats are widened to f16 first.
const fn least_exponent(element: Element) -> i16 {
    match element {
        Element::F16 | Element::Mini(_) => Format::F16.min_exponent() as i16,
        Element::Bf16 | Element::Tf32 => Format::F32.min_exponent() as i16,
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
) -> [f32; WIDTH] {
    let mut largest = c.map(|x| exponent(x, Format::F32.min_exponent() as i16));
    for (own, others) in exponents.iter().zip(&b.exponents) {
        for (largest, other) in largest.iter_mut().zip(others) {
            *largest = (*largest).max(own.saturating_add(*other));
        }
    }
    if largest.iter().any(|e| *e > SPECIAL / 4) {
        return special(a, exponents, b, c);
    }
    // -300 lies below every exponent of a product, so only sums of zeros are raised to it.
    let units = largest.map(|e| f64::from_bits(((e.max(-300) - KEPT_BITS + 1023) as u64) << 52));
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
    exact.map(cut_to_f32)
}

/// [`sum_row`] where an infinity or NaN takes part in some column.
#[cold]
fn special<const K: usize>(
    a: &[f64; K],
    exponents: &[i16; K],
    b: &Columns<K>,
    c: [f32; WIDTH],
) -> [f32; WIDTH] {
    std::array::from_fn(|n| {
        let terms = || a.iter().zip(&b.values).map(|(x, row)| x * row[n]);
        if !c[n].is_finite() || !terms().all(f64::is_finite) {
            // No sum of finite terms overflows f64, so it tells infinity from NaN.
            return terms().fold(f64::from(c[n]), |sum, term| sum + term) as f32;
        }
        // This column alone, the others zero.
        let keep = |m: usize| m == n;
        let alone = Columns {
            values: b.values.map(|row| std::array::from_fn(|m| if keep(m) { row[m] } else { 0.0 })),
            exponents: b
                .exponents
                .map(|row| std::array::from_fn(|m| if keep(m) { row[m] } else { ZERO })),
        };
        sum_row(a, exponents, &alone, std::array::from_fn(|m| if keep(m) { c[m] } else { 0.0 }))[n]
    })
}

/// Rounds towards zero to f32, but to infinity beyond the largest.
#[inline]
fn cut_to_f32(x: f64) -> f32 {
    if x.abs() >= f64::from(f32::MIN_POSITIVE) {
        f64::from_bits(x.to_bits() & !0x1fff_ffff) as f32
    } else {
        f32::from_bits(Format::F32.encode_f64(x.to_bits(), Round::Zero) as u32)
    }
}

/// [`sum_row`] for eight rows. Columns come in any order, C and D in the same.
fn sum<const K: usize>(
    left: Element,
    a: &[[f32; K]; 8],
    right: Element,
    b: &[[f32; 8]; K],
    c: &[[f32; 8]; 8],
) -> [[f32; 8]; 8] {
    let (least_a, least_b) = (least_exponent(left), least_exponent(right));
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
    left: Element,
    a: &[[f32; K]; 8],
    right: Element,
    b: &[[f32; 8]; K],
    c: &[[f32; 8]; 8],
) -> [[f32; 8]; 8] {
    let mut sums = [[0.0; 8]; 8];
    for first in [0, 2] {
        let rows: [[f32; H]; 8] = std::array::from_fn(|m| half_of(|k| a[m][k], first));
        let columns: [[f32; 8]; H] = half_of(|k| b[k], first);
        sums = sum(left, &rows, right, &columns, &sums);
    }
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
    fn(Element, &[[f32; K]; 8], Element, &[[f32; 8]; K], &[[f32; 8]; 8]) -> [[f32; 8]; 8];

fn tile<const E: usize, const K: usize>(
    (left, a): (Element, &[Rows<E>; 2]),
    (right, b): (Element, &[Lanes<E>; STEPS]),
    sums: &mut [Sums; 2],
    how: Summed<K>,
) {
    let b = columns::<E, K>(b);
    for (a, [even, odd]) in a.iter().zip(sums) {
        let c = std::array::from_fn(|m| {
            std::array::from_fn(|place| [&*even, &*odd][place / 4][4 * m + place % 4])
        });
        let d = how(left, &rows::<E, K>(a), right, &b, &c);
        for (lane, (even, odd)) in even.iter_mut().zip(odd).enumerate() {
            *even = d[lane / 4][lane % 4];
            *odd = d[lane / 4][4 + lane % 4];
        }
    }
}

/// Adds the products of 16 rows, `steps` registers of B, as an H200 does.
pub(super) fn add_products<const E: usize>(
    a: (Element, &[Rows<E>; 2]),
    b: (Element, &[Lanes<E>; STEPS]),
    steps: usize,
    sums: &mut [Sums; 2],
) {
    match (E, steps) {
        (1, ..=1) => tile::<E, 4>(a, b, sums, sum),
        (1, _) | (2, ..=1) => tile::<E, 8>(a, b, sums, sum),
        (2, _) => tile::<E, 16>(a, b, sums, sum),
        (_, ..=1) => tile::<E, 16>(a, b, sums, sum_bytes::<16, 8>),
        (_, _) => tile::<E, 32>(a, b, sums, sum_bytes::<32, 16>),
    }
}
