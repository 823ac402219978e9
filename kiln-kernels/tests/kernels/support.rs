//! Numbers, devices and comparisons of the tests.

use half::{bf16, f16};
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
