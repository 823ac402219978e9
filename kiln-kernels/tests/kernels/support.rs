//! Numbers, devices and comparisons of the tests.

use half::{bf16, f16};
use kiln::prelude::{Device, Element, Result, Target};
#[cfg(any(feature = "grouped", feature = "matmul"))]
use kiln::prelude::{e4m3, e5m2};

/// The device of a test that one target is enough for: what `KILN_DEVICE` names, else the emulator.
pub(crate) fn device(targets: &[Target]) -> Result<Device> {
    if std::env::var_os("KILN_DEVICE").is_some() {
        Device::best_for(targets)
    } else {
        Device::emulator_for(targets)
    }
}

/// The devices of a test: what `KILN_DEVICE` names, else the emulator of every target.
pub(crate) fn devices(targets: &[Target]) -> Result<Vec<Device>> {
    if std::env::var_os("KILN_DEVICE").is_some() {
        Ok(vec![Device::best_for(targets)?])
    } else {
        targets.iter().map(|&target| Device::emulator(target)).collect()
    }
}

/// A floating-point element.
pub(crate) trait Number: Element {
    /// The distance of numbers from 1 on. Rounding is off by half of it, in proportion.
    const UNIT: f64;
    /// The nearest number.
    fn of(value: f64) -> Self;
    /// The value, exactly.
    fn value(self) -> f64;
}

impl Number for bf16 {
    const UNIT: f64 = 1.0 / 128.0;

    fn of(value: f64) -> bf16 {
        bf16::from_f64(value)
    }

    fn value(self) -> f64 {
        self.to_f64()
    }
}

impl Number for f16 {
    const UNIT: f64 = 1.0 / 1024.0;

    fn of(value: f64) -> f16 {
        f16::from_f64(value)
    }

    fn value(self) -> f64 {
        self.to_f64()
    }
}

impl Number for f32 {
    const UNIT: f64 = 1.0 / 8_388_608.0;

    #[expect(clippy::cast_possible_truncation, reason = "the nearest number")]
    fn of(value: f64) -> f32 {
        value as f32
    }

    fn value(self) -> f64 {
        self.into()
    }
}

/// Uniform in -1 .. 1, from a seed.
#[expect(clippy::cast_precision_loss, reason = "24 bits are exact")]
pub(crate) fn numbers<T: Number>(len: usize, seed: u64) -> Vec<T> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        T::of((state >> 40) as f64 / f64::from(1u32 << 23) - 1.0)
    };
    std::iter::repeat_with(next).take(len).collect()
}

/// An FP8 element.
#[cfg(any(feature = "grouped", feature = "matmul"))]
pub(crate) trait Float8Number: Element {
    /// The nearest number.
    fn nearest(value: f32) -> Self;
    /// The value, exactly.
    fn exactly(self) -> f64;
}

#[cfg(any(feature = "grouped", feature = "matmul"))]
impl Float8Number for e4m3 {
    fn nearest(value: f32) -> e4m3 {
        e4m3::from_f32(value)
    }

    fn exactly(self) -> f64 {
        self.to_f64()
    }
}

#[cfg(any(feature = "grouped", feature = "matmul"))]
impl Float8Number for e5m2 {
    fn nearest(value: f32) -> e5m2 {
        e5m2::from_f32(value)
    }

    fn exactly(self) -> f64 {
        self.to_f64()
    }
}

/// Numbers of FP8 and their values.
#[cfg(any(feature = "grouped", feature = "matmul"))]
pub(crate) fn float8_numbers<T: Float8Number>(len: usize, seed: u64) -> (Vec<T>, Vec<f64>) {
    let of = |x: f32| T::nearest(x * x * x * 8.0);
    let numbers: Vec<T> = numbers(len, seed).into_iter().map(of).collect();
    let values = numbers.iter().map(|x| x.exactly()).collect();
    (numbers, values)
}

/// What `wgmma` cuts off of an addition at most, in proportion to the largest of its terms, which are 32 products and the sum so far: each
/// of them is cut to 13 bits below the highest of the largest, and then the new sum.
#[cfg(any(feature = "grouped", feature = "matmul"))]
const CUT: f64 = 34.0 / 8192.0;

/// The sum of products of FP8 numbers, and how far it may be off before it is scaled or rounded.
#[cfg(any(feature = "grouped", feature = "matmul"))]
pub(crate) fn float8_sum(a: &[f64], b: &[f64]) -> (f64, f64) {
    let terms: Vec<f64> = a.iter().zip(b).map(|(x, y)| x * y).collect();
    let (mut sum, mut off) = (0.0, 0.0);
    for step in terms.chunks(128) {
        let mut part = 0.0f64;
        for terms in step.chunks(32) {
            // Products by other instructions are more exact.
            off += CUT * largest(terms).max(part.abs());
            part += terms.iter().sum::<f64>();
        }
        sum += part;
    }
    (sum, (off + of_steps(&terms)) * 1.001)
}

/// The same where `wgmma` adds all products of a share of `k`.
#[cfg(feature = "matmul")]
pub(crate) fn float8_sum_by_tensor_cores(a: &[f64], b: &[f64]) -> (f64, f64) {
    let terms: Vec<f64> = a.iter().zip(b).map(|(x, y)| x * y).collect();
    let (mut sum, mut off, mut most) = (0.0f64, 0.0f64, 0.0f64);
    for terms in terms.chunks(32) {
        // A share may begin anywhere: its sum so far is a difference of two sums from the first product on. What it is off may add to it.
        off += CUT * (largest(terms).max(2.0 * most) + off);
        sum += terms.iter().sum::<f64>();
        most = most.max(sum.abs());
    }
    (sum, off + of_steps(&terms))
}

#[cfg(any(feature = "grouped", feature = "matmul"))]
fn largest(terms: &[f64]) -> f64 {
    terms.iter().map(|x| x.abs()).fold(0.0, f64::max)
}

/// How far sums in f32 of steps of 64 or 128 products, or of shares, may be off: each is cut off at worst.
#[cfg(any(feature = "grouped", feature = "matmul"))]
#[expect(clippy::cast_precision_loss, reason = "there are few terms")]
fn of_steps(terms: &[f64]) -> f64 {
    let size: f64 = terms.iter().map(|x| x.abs()).sum();
    terms.len().div_ceil(64) as f64 * 2f64.powi(-23) * size
}

/// Compares a result of rows of `columns` with values and how far each may be off before it is rounded to the element type.
///
/// # Panics
/// At the first number that is further off; at a NaN, which nothing overwrote.
pub(crate) fn assert_close<T: Number>(
    what: &str,
    columns: usize,
    actual: &[T],
    required: &[(f64, f64)],
) {
    assert_eq!(actual.len(), required.len(), "{what}");
    for (at, (&actual, &(value, off))) in actual.iter().zip(required).enumerate() {
        let limit = off + T::UNIT / 2.0 * (value.abs() + off);
        let difference = (actual.value() - value).abs();
        let (row, column) = (at / columns, at % columns);
        // A NaN is not within any limit.
        assert!(difference <= limit, "{what} at {row}, {column}: {} for {value}", actual.value());
    }
}
