//! Numbers, devices and comparisons of the tests.

use half::{bf16, f16};
#[cfg(any(feature = "grouped", feature = "matmul"))]
use kiln::prelude::e4m3;
use kiln::prelude::{Device, Element, Result, Target};

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

/// Numbers of FP8 and their values.
#[cfg(any(feature = "grouped", feature = "matmul"))]
pub(crate) fn float8_numbers(len: usize, seed: u64) -> (Vec<e4m3>, Vec<f64>) {
    let of = |x: f32| e4m3::from_f32(x * x * x * 8.0);
    let numbers: Vec<e4m3> = numbers(len, seed).into_iter().map(of).collect();
    let values = numbers.iter().map(|x| x.to_f32().into()).collect();
    (numbers, values)
}

/// The sum of products of FP8 numbers, and how far it may be off before it is scaled or rounded.
#[cfg(any(feature = "grouped", feature = "matmul"))]
#[expect(clippy::cast_precision_loss, reason = "there are few terms")]
pub(crate) fn float8_sum(a: &[f64], b: &[f64]) -> (f64, f64) {
    let terms: Vec<f64> = a.iter().zip(b).map(|(x, y)| x * y).collect();
    let (mut sum, mut size, mut off) = (0.0, 0.0, 0.0);
    for step in terms.chunks(128) {
        let mut part = 0.0f64;
        for terms in step.chunks(32) {
            // `wgmma` cuts each of 32 products and the sum so far, and then the new sum, to 13 bits below the highest of the largest of
            // them. Other products are more exact.
            let largest = terms.iter().map(|x| x.abs()).fold(part.abs(), f64::max);
            off += 34.0 * 2f64.powi(-13) * largest;
            size += terms.iter().map(|x| x.abs()).sum::<f64>();
            part += terms.iter().sum::<f64>();
        }
        sum += part;
    }
    // A sum of each step of 64 or 128, cut off at worst, of what was cut already.
    (sum, (off + terms.len().div_ceil(64) as f64 * 2f64.powi(-23) * size) * 1.001)
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
