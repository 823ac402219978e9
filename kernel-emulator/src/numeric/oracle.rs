//! The same results by a second, slow method, for tests: rounding by its definition.
//!
//! A value is an integer times a power of two. The two neighbours of a value in a format are found
//! by searching the format's numbers in order of magnitude (their patterns are ordered), not by
//! shifting, and compared as integers.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "drawn and counted values are cut to the width under test"
)]

use super::format::{Format, Round, Special};

/// A seeded generator (xorshift64*).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 11) % bound
    }

    /// A pattern of the format, with special exponents and sparse significands more often than chance.
    pub(super) fn pattern(&mut self, format: Format) -> u64 {
        let all = format.sign_bit() | format.magnitude_mask();
        let bits = self.next() & all;
        match self.below(8) {
            0 => bits & !format.exponent_mask(),
            1 => bits | format.exponent_mask(),
            2 => bits & !(format.mantissa_mask() >> 2),
            3 => bits | format.mantissa_mask() >> 2,
            // Exponents near the middle, so that sums and products interact.
            4..=6 => {
                let field = (1 << (format.exponent_bits - 1)) - 1 + self.below(9) - 4;
                bits & !format.exponent_mask() | field << format.mantissa_bits
            }
            _ => bits,
        }
    }
}

/// A real number `units * 2^scale`, or something else.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Real {
    Nan,
    Infinite(bool),
    /// `negative` gives the sign of zero.
    Number {
        negative: bool,
        units: i128,
        scale: i32,
    },
}

/// The value of a pattern, from the definition of the interchange formats.
pub(super) fn value(format: Format, bits: u64) -> Real {
    let negative = bits / format.sign_bit() % 2 == 1;
    let magnitude = bits % format.sign_bit();
    let per_binade = 1u64 << format.mantissa_bits;
    let (field, fraction) = (magnitude / per_binade, magnitude % per_binade);
    let last_field = (1u64 << format.exponent_bits) - 1;
    match format.special {
        Special::Ieee if field == last_field && fraction == 0 => return Real::Infinite(negative),
        Special::Ieee if field == last_field => return Real::Nan,
        Special::NanOnly if magnitude == format.sign_bit() - 1 => return Real::Nan,
        Special::Ieee | Special::NanOnly | Special::FiniteOnly => {}
    }
    let bias = (1i32 << (format.exponent_bits - 1)) - 1;
    let (units, exponent) = if field == 0 {
        (fraction, 1 - bias)
    } else {
        (fraction + per_binade, field as i32 - bias)
    };
    let units = if negative { -i128::from(units) } else { i128::from(units) };
    Real::Number { negative, units, scale: exponent - format.mantissa_bits as i32 }
}

/// Brings numbers to a common scale. One that is more than 2^60 times smaller than the largest is
/// replaced by one sixtieth-bit unit of its sign: no boundary between roundings to 24 bits is
/// between the two.
pub(super) fn align(numbers: &[(i128, i32)]) -> (Vec<i128>, i32) {
    let top =
        |(units, scale): &(i128, i32)| scale + 128 - units.unsigned_abs().leading_zeros() as i32;
    let highest = numbers.iter().filter(|n| n.0 != 0).map(top).max().unwrap_or(0);
    let lowest = numbers.iter().filter(|n| n.0 != 0).map(|n| n.1).min().unwrap_or(0);
    let scale = lowest.max(highest - 120);
    let aligned = numbers
        .iter()
        .map(|&(units, own)| {
            if units == 0 {
                0
            } else if own >= scale {
                units << (own - scale)
            } else {
                let by = scale - own;
                let floor = if by > 126 { units >> 126 >> 1 } else { units >> by };
                let exact = by <= 126 && floor << by == units;
                // Keep what is cut off visible as an odd last unit.
                if exact { floor } else { floor | 1 }
            }
        })
        .collect();
    (aligned, scale)
}

/// Compares `units * 2^scale` with the magnitude of a finite pattern, both taken twice.
fn compare_doubled(
    units: u128,
    scale: i32,
    low: (i128, i32),
    high: (i128, i32),
) -> std::cmp::Ordering {
    // 2x against low + high, at a common scale.
    let (all, _) = align(&[(units as i128 * 2, scale), low, high]);
    all[0].cmp(&(all[1] + all[2]))
}

/// The pattern of the format nearest to `units * 2^scale` in the rounding's sense; `zero_negative` is
/// the sign of an exact zero. Overflow as IEEE 754.
pub(super) fn round(
    format: Format,
    units: i128,
    scale: i32,
    zero_negative: bool,
    round: Round,
) -> u64 {
    let negative = if units == 0 { zero_negative } else { units < 0 };
    let sign = if negative { format.sign_bit() } else { 0 };
    let magnitude = units.unsigned_abs();
    // One past the largest finite pattern acts as the next number in the search, as if the exponent had
    // no end.
    let largest = format.max_finite();
    let finite = |pattern: u64| -> (i128, i32) {
        let per_binade = 1u64 << format.mantissa_bits;
        let (field, fraction) = (pattern / per_binade, pattern % per_binade);
        let bias = (1i32 << (format.exponent_bits - 1)) - 1;
        let (significand, exponent) = if field == 0 {
            (fraction, 1 - bias)
        } else {
            (fraction + per_binade, field as i32 - bias)
        };
        (i128::from(significand), exponent - format.mantissa_bits as i32)
    };
    let at_most = |pattern: u64| {
        let (all, _) = align(&[finite(pattern), (magnitude as i128, scale)]);
        all[0] <= all[1]
    };
    let (mut low, mut high) = (0, largest + 2);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if at_most(middle) { low = middle } else { high = middle }
    }
    let exact = {
        let (all, _) = align(&[finite(low), (magnitude as i128, scale)]);
        all[0] == all[1]
    };
    let beyond = low > largest;
    let up = if exact && !beyond {
        false
    } else {
        match round {
            Round::Zero => false,
            Round::Down => negative,
            Round::Up => !negative,
            Round::NearestEven | Round::NearestAway if beyond => true,
            Round::NearestEven | Round::NearestAway => {
                match compare_doubled(magnitude, scale, finite(low), finite(low + 1)) {
                    std::cmp::Ordering::Less => false,
                    std::cmp::Ordering::Greater => true,
                    std::cmp::Ordering::Equal => round == Round::NearestAway || low % 2 == 1,
                }
            }
        }
    };
    let pattern = match (beyond, up) {
        (true, true) => largest + 1,
        (true, false) => largest,
        (false, true) => low + 1,
        (false, false) => low,
    };
    sign | pattern
}
