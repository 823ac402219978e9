//! Whether two results agree.

use kernel_core::ir::Dtype;

use crate::data::{Buffer, Number};

/// How far a result may be from the reference. Several limits add up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Relative to the reference.
    pub relative: f64,
    /// Absolute.
    pub absolute: f64,
    /// In units of the last place of the reference, in the element type.
    pub ulps: f64,
}

impl Tolerance {
    /// Bit for bit; any NaN equals any other.
    pub const EXACT: Tolerance = Tolerance { relative: 0.0, absolute: 0.0, ulps: 0.0 };

    /// Reads `exact`, or a list of `rtol=..`, `atol=..`, `ulp=..`.
    ///
    /// # Errors
    /// What is neither.
    pub fn parse(text: &str) -> Result<Tolerance, String> {
        let mut out = Tolerance::EXACT;
        for word in text.split_whitespace() {
            if word == "exact" {
                continue;
            }
            let (key, value) = word.split_once('=').ok_or_else(|| format!("`{word}`"))?;
            let value = value.parse().map_err(|error| format!("`{value}`: {error}"))?;
            match key {
                "rtol" => out.relative = value,
                "atol" => out.absolute = value,
                "ulp" => out.ulps = value,
                _ => return Err(format!("`{key}` is not `rtol`, `atol` or `ulp`")),
            }
        }
        Ok(out)
    }

    /// Whether `actual` is near enough to `required`.
    fn admits(self, dtype: Dtype, required: f64, actual: f64) -> bool {
        if required.is_nan() || actual.is_nan() {
            return required.is_nan() && actual.is_nan();
        }
        if required.is_infinite() || actual.is_infinite() {
            return required.to_bits() == actual.to_bits();
        }
        if self == Tolerance::EXACT {
            return required.to_bits() == actual.to_bits();
        }
        let limit =
            self.absolute + self.relative * required.abs() + self.ulps * ulp(dtype, required);
        (required - actual).abs() <= limit
    }
}

/// The distance between neighbours of an element type at `value`.
fn ulp(dtype: Dtype, value: f64) -> f64 {
    let Some(format) = dtype.format() else { return 1.0 };
    let exponent = i32::try_from(value.abs().to_bits() >> 52).expect("11 bits") - 1023;
    let exponent = exponent.max(format.least_exponent) - format.fraction_bits.cast_signed();
    // In two steps: `powi` gives 0 for the least exponents of `f64`, whose reciprocals are infinite.
    2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2)
}

/// Compares a buffer with the reference, and gives the differences in words: the first few, and how many.
///
/// # Errors
/// The differences.
pub fn buffers(
    name: &str,
    required: &Buffer,
    actual: &Buffer,
    tolerance: Tolerance,
) -> Result<(), String> {
    let mut differences = Vec::new();
    let mut count = 0usize;
    for number in 0..required.len() {
        if required.bytes(number) == actual.bytes(number) {
            continue;
        }
        let (a, b) = (required.get(number), actual.get(number));
        let same = match (a, b) {
            (Number::Float(a), Number::Float(b)) => tolerance.admits(required.dtype, a, b),
            (Number::Int(a), Number::Int(b)) => {
                tolerance.absolute > 0.0 && Number::Int(a - b).float().abs() <= tolerance.absolute
            }
            _ => false,
        };
        if !same {
            count += 1;
            if differences.len() < 4 {
                differences.push(format!(
                    "\n    {name}{:?}: required {}, actual {}",
                    required.index(number),
                    show(a, required.bytes(number)),
                    show(b, actual.bytes(number)),
                ));
            }
        }
    }
    if count > 0 {
        let total = required.len();
        return Err(format!("{count} of {total} elements differ{}", differences.concat()));
    }
    Ok(())
}

/// A value with its bits, which tell zeros and NaNs apart.
fn show(value: Number, bytes: &[u8]) -> String {
    let mut word = [0; 16];
    word[..bytes.len()].copy_from_slice(bytes);
    let (bits, digits) = (u128::from_le_bytes(word), 2 * bytes.len());
    match value {
        Number::Int(value) => format!("{value} (0x{bits:0digits$x})"),
        Number::Float(value) => format!("{value:e} (0x{bits:0digits$x})"),
        Number::Bool(_) => format!("0x{bits:0digits$x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerances_are_read() {
        let required = Tolerance { relative: 0.5, absolute: 1e-3, ulps: 2.0 };
        assert_eq!(Tolerance::parse("rtol=0.5 atol=1e-3 ulp=2"), Ok(required));
        assert_eq!(Tolerance::parse("exact"), Ok(Tolerance::EXACT));
        assert!(Tolerance::parse("tol=1").is_err());
    }

    #[test]
    fn units_of_the_last_place_are_those_of_the_type() {
        let same =
            |dtype, ulp, b| Tolerance { ulps: ulp, ..Tolerance::EXACT }.admits(dtype, 1.0, b);
        assert!(same(Dtype::F16, 1.0, 1.0 + 2f64.powi(-10)));
        assert!(!same(Dtype::F16, 1.0, 1.0 + 2f64.powi(-9)));
        assert!(same(Dtype::F32, 1.0, 1.0 + 2f64.powi(-23)));
        assert!(!same(Dtype::F32, 1.0, f64::NAN));
        // Far below 2^-1023 / 2^-52, and among the subnormal numbers.
        let small = 2f64.powi(-1000);
        let near = Tolerance { ulps: 1.0, ..Tolerance::EXACT };
        assert!(near.admits(Dtype::F64, small, small.next_up()));
        assert!(!near.admits(Dtype::F64, small, small.next_up().next_up()));
        assert!(near.admits(Dtype::F64, 5e-324, 1e-323));
        assert!(!Tolerance::EXACT.admits(Dtype::F32, 0.0, -0.0));
    }
}
