//! Comparing a buffer with what it must hold.

use std::fmt::{self, Write};

use sha2::{Digest, Sha256};

use crate::dtype::{Dtype, Number};
use crate::fill::Init;
use crate::launch::{Buffer, Expected, Tolerance};

/// How a buffer differs from what it must hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Mismatch {
    /// An element is wrong.
    Sample {
        /// The buffer.
        buffer: String,
        /// Row-major index of the first wrong sample.
        index: usize,
        /// What it must be.
        required: Number,
        /// What it is.
        actual: Number,
        /// Its storage bits.
        actual_bits: u64,
        /// By how much it may be off; `None` where it must be exact.
        within: Option<f64>,
        /// Whether it still has the bytes that the buffer was filled with.
        untouched: bool,
        /// Wrong samples in all, and samples in all.
        counts: (usize, usize),
    },
    /// The samples agree and the digest does not.
    Digest {
        /// The buffer.
        buffer: String,
        /// What it must be.
        required: String,
        /// What it is.
        actual: String,
        /// Samples that agree.
        samples: usize,
    },
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mismatch::Sample {
                buffer,
                index,
                required,
                actual,
                actual_bits,
                within,
                untouched,
                counts: (wrong, samples),
            } => {
                write!(f, "buffer `{buffer}`[{index}]: required {required}")?;
                if let Some(within) = within {
                    write!(f, " within {within:e}")?;
                }
                write!(f, ", actual {actual} (bits {actual_bits:#x}")?;
                if *untouched {
                    write!(f, ", which the buffer was filled with")?;
                }
                write!(f, "); {wrong} of {samples} samples differ")
            }
            Mismatch::Digest { buffer, required, actual, samples } => write!(
                f,
                "buffer `{buffer}`: required sha256 {required}, actual {actual}; all of the {samples} samples agree"
            ),
        }
    }
}

impl std::error::Error for Mismatch {}

/// The SHA-256 of some bytes, in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        let _infallible = write!(text, "{byte:02x}");
        text
    })
}

/// Compares the bytes of a buffer after a launch.
///
/// # Errors
/// The first sample that differs; the digest where samples do not show the difference.
pub fn compare(buffer: &Buffer, data: &[u8], expected: &Expected) -> Result<(), Box<Mismatch>> {
    let dtype = buffer.dtype;
    if let (Tolerance::BitExact, Some(required)) = (expected.tolerance, &expected.sha256) {
        let actual = sha256(data);
        if actual == *required || other_nans(dtype, data).any(|digest| digest == *required) {
            return Ok(());
        }
        samples(buffer, data, expected)?;
        return Err(Box::new(Mismatch::Digest {
            buffer: buffer.name.clone(),
            required: required.clone(),
            actual,
            samples: expected.samples.len(),
        }));
    }
    samples(buffer, data, expected)
}

/// The digests of the buffer with all its NaNs replaced by one code, for each code that a NaN commonly has.
fn other_nans(dtype: Dtype, data: &[u8]) -> impl Iterator<Item = String> {
    let nans: Vec<usize> = (0..data.len() / dtype.bytes())
        .filter(|&place| dtype.is_nan(dtype.load(data, place)))
        .collect();
    let codes = if nans.is_empty() { &[] } else { dtype.nan_codes() };
    codes.iter().map(move |&code| {
        let mut data = data.to_vec();
        for &place in &nans {
            dtype.store(&mut data, place, code);
        }
        sha256(&data)
    })
}

fn samples(buffer: &Buffer, data: &[u8], expected: &Expected) -> Result<(), Box<Mismatch>> {
    let dtype = buffer.dtype;
    let bits = |index| dtype.load(data, buffer.places.at(index));
    let wrong: Vec<&(usize, Number)> = expected
        .samples
        .iter()
        .filter(|&&(index, required)| !agree(dtype, bits(index), required, expected.tolerance))
        .collect();
    let Some(&&(index, required)) = wrong.first() else { return Ok(()) };
    let actual_bits = bits(index);
    let filled = |byte: u8| u64::from_le_bytes([byte; 8]) & dtype.mask();
    Err(Box::new(Mismatch::Sample {
        buffer: buffer.name.clone(),
        index,
        required,
        actual: dtype.decode(actual_bits),
        actual_bits,
        within: match expected.tolerance {
            Tolerance::BitExact => None,
            Tolerance::Within { atol, rtol } => Some(atol + rtol * required.to_f64().abs()),
        },
        untouched: matches!(buffer.init, Some(Init::Bytes(byte)) if filled(byte) == actual_bits),
        counts: (wrong.len(), expected.samples.len()),
    }))
}

/// Whether an element is what it must be.
fn agree(dtype: Dtype, actual: u64, required: Number, tolerance: Tolerance) -> bool {
    if required.to_f64().is_nan() {
        return dtype.is_nan(actual);
    }
    match tolerance {
        Tolerance::BitExact => dtype.encode(required) == Some(actual),
        Tolerance::Within { atol, rtol } => {
            let (actual, required) = (dtype.decode(actual), required);
            if let (Number::Integer(a), Number::Integer(b)) = (actual, required)
                && a == b
            {
                return true;
            }
            let (actual, required) = (actual.to_f64(), required.to_f64());
            if !required.is_finite() {
                // An infinity is off by infinitely much from everything but itself.
                return actual.is_infinite() && actual.signum() == required.signum();
            }
            (actual - required).abs() <= atol + rtol * required.abs()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fill::Places;
    use crate::launch::Role;

    fn buffer(dtype: Dtype, elements: u64) -> Buffer {
        Buffer {
            name: "y".to_owned(),
            dtype,
            places: Places::new(vec![elements], None, elements).expect("dense"),
            bytes: usize::try_from(elements).expect("small") * dtype.bytes(),
            align: 256,
            role: Role::Out,
            init: Some(Init::Bytes(0xCD)),
            init_sha256: None,
        }
    }

    fn singles(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    fn expected(tolerance: Tolerance, samples: &[f64]) -> Expected {
        let samples = samples.iter().map(|&value| Number::Real(value)).enumerate().collect();
        Expected { buffer: 0, tolerance, sha256: None, samples }
    }

    #[test]
    fn the_digest_is_that_of_the_standard() {
        // FIPS 180-2, appendix B.1.
        let required = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(b"abc"), required);
    }

    #[test]
    fn a_tolerance_has_an_absolute_and_a_relative_part() {
        let within = Tolerance::Within { atol: 0.25, rtol: 0.125 };
        let y = buffer(Dtype::F32, 2);
        // 2 may be off by 0.25 + 0.125 * 2 = 0.5.
        let check =
            |actual: f32| compare(&y, &singles(&[0.0, actual]), &expected(within, &[-0.0, 2.0]));
        assert_eq!(check(2.5), Ok(()));
        assert_eq!(check(1.5), Ok(()));
        let wrong = check(2.5625).expect_err("off by 0.5625");
        assert_eq!(
            wrong.to_string(),
            "buffer `y`[1]: required 2 within 5e-1, actual 2.5625 (bits 0x40240000); 1 of 2 samples differ"
        );
        assert!(check(f32::NAN).is_err());
        assert!(check(f32::INFINITY).is_err());
    }

    #[test]
    fn infinities_are_equal_to_themselves_only() {
        let within = Tolerance::Within { atol: 1e9, rtol: 1.0 };
        let y = buffer(Dtype::F32, 1);
        let check =
            |actual: f32| compare(&y, &singles(&[actual]), &expected(within, &[f64::INFINITY]));
        assert_eq!(check(f32::INFINITY), Ok(()));
        assert!(check(f32::NEG_INFINITY).is_err());
        assert!(check(f32::MAX).is_err());
    }

    #[test]
    fn without_a_tolerance_the_sign_of_a_zero_counts() {
        let y = buffer(Dtype::F32, 1);
        let exact = expected(Tolerance::BitExact, &[0.0]);
        assert_eq!(compare(&y, &singles(&[0.0]), &exact), Ok(()));
        assert!(compare(&y, &singles(&[-0.0]), &exact).is_err());
    }

    #[test]
    fn any_nan_will_do_where_a_nan_is_required() {
        let y = buffer(Dtype::F32, 1);
        let data = 0xFFC1_2345_u32.to_le_bytes();
        for tolerance in [Tolerance::BitExact, Tolerance::Within { atol: 0.0, rtol: 0.0 }] {
            assert_eq!(compare(&y, &data, &expected(tolerance, &[f64::NAN])), Ok(()));
            assert!(compare(&y, &singles(&[1.0]), &expected(tolerance, &[f64::NAN])).is_err());
        }
    }

    #[test]
    fn the_payload_of_a_nan_does_not_enter_the_digest() {
        let y = buffer(Dtype::F32, 2);
        let reference = [1.0_f32.to_le_bytes(), 0x7FC0_0000_u32.to_le_bytes()].concat();
        let mut exact = expected(Tolerance::BitExact, &[1.0, f64::NAN]);
        exact.sha256 = Some(sha256(&reference));
        let emulated = [1.0_f32.to_le_bytes(), 0x7FFF_FFFF_u32.to_le_bytes()].concat();
        assert_eq!(compare(&y, &emulated, &exact), Ok(()));
        let wrong = [2.0_f32.to_le_bytes(), 0x7FFF_FFFF_u32.to_le_bytes()].concat();
        let wrong = *compare(&y, &wrong, &exact).expect_err("2 is not 1");
        assert!(matches!(wrong, Mismatch::Sample { index: 0, .. }));
    }

    #[test]
    fn a_difference_that_no_sample_shows_is_still_one() {
        let y = buffer(Dtype::F32, 2);
        let mut exact = expected(Tolerance::BitExact, &[1.0]);
        exact.sha256 = Some(sha256(&singles(&[1.0, 2.0])));
        assert_eq!(compare(&y, &singles(&[1.0, 2.0]), &exact), Ok(()));
        let wrong = *compare(&y, &singles(&[1.0, 3.0]), &exact).expect_err("3 is not 2");
        assert!(matches!(wrong, Mismatch::Digest { samples: 1, .. }));
    }

    #[test]
    fn an_element_that_nobody_wrote_is_told_apart() {
        let y = buffer(Dtype::U8, 1);
        let exact = expected(Tolerance::BitExact, &[3.0]);
        let wrong = compare(&y, &[0xCD], &exact).expect_err("205 is not 3");
        assert_eq!(
            wrong.to_string(),
            "buffer `y`[0]: required 3, actual 205 (bits 0xcd, which the buffer was filled with); 1 of 1 samples differ"
        );
    }
}
