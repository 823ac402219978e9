//! FP6 numbers, as Blackwell's tensor cores multiply them.
//!
//! The formats E2M3 and E3M2 of the OCP Microscaling Formats Specification. Nothing but a product computes with them: these types convert on
//! the host, and hold what TMA brings to a product.

use std::fmt;

/// The numbers of an element.
const NUMBERS: usize = 16;
/// The bits of a number.
const BITS: usize = 6;
/// The bit of the sign of a number.
const SIGN: u8 = 0b10_0000;

/// The magnitude of a code without a sign (OCP Microscaling Formats, "FP6"): no code stands for an infinity or a NaN.
fn magnitude(code: u8, fraction_bits: u8) -> f32 {
    let (exponent, fraction) = (code >> fraction_bits, code & ((1 << fraction_bits) - 1));
    let one = f32::from(1u8 << fraction_bits);
    let bias = (1 << (4 - fraction_bits)) - 1;
    let hidden = if exponent == 0 { 0.0 } else { 1.0 };
    (hidden + f32::from(fraction) / one) * 2f32.powi(i32::from(exponent.max(1)) - bias)
}

/// The code of the nearest number.
fn code(value: f32, fraction_bits: u8) -> u8 {
    let largest = SIGN - 1;
    if value.is_nan() {
        return largest;
    }
    // The first code that is not passed: what lies in the middle between two belongs to the even one.
    let nearest = (0..largest)
        .find(|&code| {
            let [this, next] = [code, code + 1].map(|code| magnitude(code, fraction_bits));
            let middle = f32::midpoint(this, next);
            if code % 2 == 0 { value.abs() <= middle } else { value.abs() < middle }
        })
        .unwrap_or(largest);
    if value.is_sign_negative() { nearest | SIGN } else { nearest }
}

macro_rules! float6 {
    ($(#[$doc:meta])* $name:ident $fraction_bits:literal) => {
        $(#[$doc])*
        #[expect(non_camel_case_types, reason = "named as kernels name it")]
        #[derive(Clone, Copy, Default)]
        #[repr(transparent)]
        pub struct $name([u8; NUMBERS * BITS / 8]);

        impl $name {
            /// The nearest numbers, ties to even. What is beyond the range becomes the largest number of its sign, and NaN the largest
            /// one, as when kernels convert (PTX ISA, "cvt": `.satfinite`).
            #[must_use]
            pub fn from_f32(values: [f32; NUMBERS]) -> Self {
                let bits = values.iter().rev().fold(0u128, |bits, &value| {
                    bits << BITS | u128::from(code(value, $fraction_bits))
                });
                Self(*bits.to_le_bytes().first_chunk().expect("twelve of sixteen bytes"))
            }

            /// The numbers, exactly.
            #[must_use]
            pub fn to_f32(self) -> [f32; NUMBERS] {
                let mut bytes = [0; 16];
                bytes[..self.0.len()].copy_from_slice(&self.0);
                let bits = u128::from_le_bytes(bytes);
                std::array::from_fn(|at| {
                    let code = (bits >> (BITS * at)).to_le_bytes()[0];
                    let magnitude = magnitude(code & (SIGN - 1), $fraction_bits);
                    if code & SIGN == 0 { magnitude } else { -magnitude }
                })
            }

            /// The bytes in memory.
            #[must_use]
            pub const fn to_le_bytes(self) -> [u8; NUMBERS * BITS / 8] {
                self.0
            }

            /// The numbers of these bytes in memory.
            #[must_use]
            pub const fn from_le_bytes(bytes: [u8; NUMBERS * BITS / 8]) -> Self {
                Self(bytes)
            }
        }

        /// By value, as of other floats: zeros are equal.
        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.to_f32() == other.to_f32()
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.to_f32().fmt(f)
            }
        }
    };
}

float6! {
    /// Sixteen FP6 numbers in twelve bytes, the first in the lowest six bits: each a sign, two bits of exponent, three of fraction.
    ///
    /// The numbers from -7.5 to 7.5 lie 0.125 apart up to 2, 0.25 up to 4, and 0.5 beyond. There are no infinities and no NaN.
    ///
    /// ```
    /// use kernel_runtime::e2m3x16;
    ///
    /// let mut values = [0.0; 16];
    /// values[..4].copy_from_slice(&[1.0, -7.5, 0.3, 100.0]);
    /// let numbers = e2m3x16::from_f32(values);
    /// assert_eq!(numbers.to_f32()[..4], [1.0, -7.5, 0.25, 7.5]);
    /// assert_eq!(numbers.to_le_bytes()[..3], [0xc8, 0x2f, 0x7c]);
    /// ```
    e2m3x16 3
}

float6! {
    /// Sixteen FP6 numbers in twelve bytes, as [`e2m3x16`], each of three bits of exponent and two of fraction: up to 28, down to 0.0625.
    ///
    /// ```
    /// use kernel_runtime::e3m2x16;
    ///
    /// let mut values = [0.0; 16];
    /// values[..4].copy_from_slice(&[1.0, -28.0, 0.07, 1e9]);
    /// assert_eq!(e3m2x16::from_f32(values).to_f32()[..4], [1.0, -28.0, 0.0625, 28.0]);
    /// ```
    e3m2x16 2
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The specification's table "FP6", written out: exponents of E2M3 lead to steps of 1/8, 1/8, 1/4, 1/2, those of E3M2 to steps of 1/16,
    /// 1/16, 1/8, 1/4, 1/2, 1, 2, 4.
    #[test]
    fn numbers_are_those_of_the_specification() {
        let steps = |steps: &[f32], to_a_step: usize| -> Vec<f32> {
            let all = steps.iter().flat_map(|step| std::iter::repeat_n(*step, to_a_step));
            all.scan(0.0, |sum, step| Some(std::mem::replace(sum, *sum + step))).collect()
        };
        let e2m3 = steps(&[0.125, 0.125, 0.25, 0.5], 8);
        let e3m2 = steps(&[0.0625, 0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0], 4);
        assert_eq!((e2m3[31].to_bits(), e3m2[31].to_bits()), (7.5f32.to_bits(), 28f32.to_bits()));
        for code in 0..64u8 {
            // The code at each of the sixteen places, beside zeros.
            for at in 0..NUMBERS {
                let bits = u128::from(code) << (6 * at);
                let bytes = *bits.to_le_bytes().first_chunk().expect("12 of 16");
                let of = |table: &[f32]| {
                    let magnitude = table[usize::from(code & 31)];
                    let mut all = [0.0; NUMBERS];
                    all[at] = if code < 32 { magnitude } else { -magnitude };
                    all
                };
                let (two, three) = (e2m3x16::from_le_bytes(bytes), e3m2x16::from_le_bytes(bytes));
                assert_eq!(two.to_f32().map(f32::to_bits), of(&e2m3).map(f32::to_bits));
                assert_eq!(three.to_f32().map(f32::to_bits), of(&e3m2).map(f32::to_bits));
                assert_eq!(e2m3x16::from_f32(of(&e2m3)).to_le_bytes(), bytes);
                assert_eq!(e3m2x16::from_f32(of(&e3m2)).to_le_bytes(), bytes);
            }
        }
    }

    #[test]
    fn conversions_round_to_the_even_neighbour_and_stay_in_range() {
        let two = |value: f32| e2m3x16::from_f32([value; NUMBERS]).to_f32()[7];
        let three = |value: f32| e3m2x16::from_f32([value; NUMBERS]).to_f32()[15];
        for (of, value, required) in [
            (&two as &dyn Fn(f32) -> f32, 0.0625, 0.0),
            (&two, 0.1875, 0.25),
            (&two, 4.25, 4.0),
            (&two, 4.75, 5.0),
            (&two, -7.75, -7.5),
            (&two, f32::INFINITY, 7.5),
            (&two, f32::NAN, 7.5),
            (&two, -0.0, -0.0),
            (&three, 0.03125, 0.0),
            (&three, 0.09375, 0.125),
            (&three, 18.0, 16.0),
            (&three, 22.0, 24.0),
            (&three, f32::NEG_INFINITY, -28.0),
            (&three, f32::NAN, 28.0),
        ] {
            assert_eq!(of(value).to_bits(), f32::to_bits(required), "{value}");
        }
    }
}
