//! Binary floating-point formats as data: decode to an exact value, round, encode.
//!
//! A finite value is `(-1)^negative * significand * 2^exponent` with an integer significand, so
//! that every later step is integer arithmetic. PTX ISA, "Fundamental Types" and "Alternate
//! Floating-Point Data Formats".

use std::cmp::Ordering;

use super::lossy::{low32, low64};

/// How a format spends its largest exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// Infinities and NaNs as in IEEE 754: the largest exponent field holds nothing else.
    Ieee,
    /// One NaN pattern, all ones, and no infinity (e4m3).
    NanOnly,
    /// Every pattern is finite (e2m1, e2m3, e3m2).
    FiniteOnly,
}

/// Rounding of an inexact result. PTX ISA, "Rounding Modifiers".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// `.rn`, `.rni`: to nearest, ties to even.
    NearestEven,
    /// `.rna`: to nearest, ties away from zero.
    NearestAway,
    /// `.rz`, `.rzi`: towards zero.
    Zero,
    /// `.rm`, `.rmi`: towards negative infinity.
    Down,
    /// `.rp`, `.rpi`: towards positive infinity.
    Up,
}

/// What becomes of a finite value beyond the largest finite one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// As IEEE 754 says: infinity, or the largest finite value where the rounding points inwards.
    Ieee,
    /// `.satfinite`: the largest finite value, for infinities too.
    Saturate,
}

/// A finite number: `(-1)^negative * significand * 2^exponent`; zero when the significand is zero.
///
/// An inexact intermediate keeps at least two bits below any result's last place and sets its
/// lowest bit when something was cut off, which is all that rounding needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// The sign, also of zero.
    pub negative: bool,
    /// The weight of the significand's lowest bit, as a power of two.
    pub exponent: i32,
    /// The magnitude in units of that weight.
    pub significand: u128,
}

/// A decoded operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// Not a number, payload dropped.
    Nan,
    /// An infinity.
    Infinite {
        /// The sign.
        negative: bool,
    },
    /// Anything else.
    Finite(Number),
}

/// A binary floating-point format of at most 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Width of the exponent field.
    pub exponent_bits: u32,
    /// Width of the stored significand.
    pub mantissa_bits: u32,
    /// Use of the largest exponent.
    pub special: Special,
}

impl Format {
    /// IEEE binary64.
    pub const F64: Self = Self::new(11, 52, Special::Ieee);
    /// IEEE binary32.
    pub const F32: Self = Self::new(8, 23, Special::Ieee);
    /// The 19 bits that tensor cores read of a tf32 register; the register holds them in its top bits.
    pub const TF32: Self = Self::new(8, 10, Special::Ieee);
    /// bfloat16.
    pub const BF16: Self = Self::new(8, 7, Special::Ieee);
    /// IEEE binary16.
    pub const F16: Self = Self::new(5, 10, Special::Ieee);
    /// e5m2.
    pub const E5M2: Self = Self::new(5, 2, Special::Ieee);
    /// e4m3.
    pub const E4M3: Self = Self::new(4, 3, Special::NanOnly);
    /// e3m2.
    pub const E3M2: Self = Self::new(3, 2, Special::FiniteOnly);
    /// e2m3.
    pub const E2M3: Self = Self::new(2, 3, Special::FiniteOnly);
    /// e2m1.
    pub const E2M1: Self = Self::new(2, 1, Special::FiniteOnly);

    const fn new(exponent_bits: u32, mantissa_bits: u32, special: Special) -> Self {
        Self { exponent_bits, mantissa_bits, special }
    }

    /// Width in bits, the sign included.
    pub const fn bits(self) -> u32 {
        1 + self.exponent_bits + self.mantissa_bits
    }

    /// The sign bit.
    pub const fn sign_bit(self) -> u64 {
        1 << (self.exponent_bits + self.mantissa_bits)
    }

    /// All bits but the sign.
    pub const fn magnitude_mask(self) -> u64 {
        self.sign_bit() - 1
    }

    /// The exponent field, all ones.
    pub const fn exponent_mask(self) -> u64 {
        self.magnitude_mask() & !self.mantissa_mask()
    }

    /// The stored significand, all ones.
    pub const fn mantissa_mask(self) -> u64 {
        (1 << self.mantissa_bits) - 1
    }

    /// The exponent of the smallest normal number.
    pub const fn min_exponent(self) -> i32 {
        2 - (1 << (self.exponent_bits - 1))
    }

    /// The magnitude bits of the largest finite number.
    pub const fn max_finite(self) -> u64 {
        match self.special {
            Special::Ieee => self.exponent_mask() - 1,
            Special::NanOnly => self.magnitude_mask() - 1,
            Special::FiniteOnly => self.magnitude_mask(),
        }
    }

    /// The NaN that instructions produce: all bits but the sign. The PTX ISA's sections
    /// "Floating Point Instructions" and "Half Precision Floating Point Instructions" give 0x7fffffff for
    /// f32 and 0x7fff for f16 and bf16. f64 results follow [`nan_f64`](super::scalar::nan_f64), and a
    /// format without NaN gives its largest number, as `cvt` does.
    pub const fn canonical_nan(self) -> u64 {
        self.magnitude_mask()
    }

    /// Whether the bits are a NaN.
    #[inline]
    pub const fn is_nan(self, bits: u64) -> bool {
        let magnitude = bits & self.magnitude_mask();
        match self.special {
            Special::Ieee => magnitude > self.exponent_mask(),
            Special::NanOnly => magnitude == self.magnitude_mask(),
            Special::FiniteOnly => false,
        }
    }

    /// Subnormals become zeros of their sign, everything else stays: `.ftz`.
    #[inline]
    pub const fn flush(self, bits: u64) -> u64 {
        if bits & self.exponent_mask() == 0 { bits & self.sign_bit() } else { bits }
    }

    /// Reads the bits; those above the format's width are ignored.
    #[inline]
    pub const fn decode(self, bits: u64) -> Value {
        let negative = bits & self.sign_bit() != 0;
        if self.is_nan(bits) {
            return Value::Nan;
        }
        let field = (bits & self.exponent_mask()) >> self.mantissa_bits;
        let mantissa = bits & self.mantissa_mask();
        if matches!(self.special, Special::Ieee)
            && field == self.exponent_mask() >> self.mantissa_bits
        {
            return Value::Infinite { negative };
        }
        let lowest = self.min_exponent() - self.mantissa_bits.cast_signed();
        Value::Finite(if field == 0 {
            Number { negative, exponent: lowest, significand: mantissa as u128 }
        } else {
            let significand = (mantissa | 1 << self.mantissa_bits) as u128;
            Number { negative, exponent: lowest + low32(field).cast_signed() - 1, significand }
        })
    }

    /// Rounds a value to this format; NaN becomes [`Self::canonical_nan`].
    #[inline]
    pub fn encode(self, value: Value, round: Round, overflow: Overflow) -> u64 {
        match value {
            Value::Nan => self.canonical_nan(),
            Value::Infinite { negative } => self.infinity(negative, overflow),
            Value::Finite(number) => self.encode_number(number, round, overflow),
        }
    }

    fn signed(self, negative: bool, magnitude: u64) -> u64 {
        if negative { self.sign_bit() | magnitude } else { magnitude }
    }

    fn infinity(self, negative: bool, overflow: Overflow) -> u64 {
        let magnitude = match (overflow, self.special) {
            (Overflow::Ieee, Special::Ieee) => self.exponent_mask(),
            (Overflow::Ieee, Special::NanOnly) => self.canonical_nan(),
            (Overflow::Saturate, _) | (Overflow::Ieee, Special::FiniteOnly) => self.max_finite(),
        };
        self.signed(negative, magnitude)
    }

    /// Rounds a finite number to this format.
    #[inline]
    pub fn encode_number(self, number: Number, round: Round, overflow: Overflow) -> u64 {
        let Number { negative, exponent, significand } = number;
        if significand == 0 {
            return self.signed(negative, 0);
        }
        let leading = exponent + (127 - significand.leading_zeros().cast_signed());
        let binade = leading.max(self.min_exponent());
        // `unit` is the weight of the result's last place, `drop` how many bits are below it.
        let unit = binade - self.mantissa_bits.cast_signed();
        let drop = unit - exponent;
        let rounded = if drop <= 0 {
            low64(significand << -drop)
        } else {
            low64(round_bits(significand, drop.unsigned_abs(), negative, round))
        };
        // The implicit bit, where present, carries into the exponent field, and so does a round-up
        // to the next power of two.
        let above = u64::from(binade.abs_diff(self.min_exponent()));
        if above >= 1 << self.exponent_bits {
            return self.overflowed(negative, round, overflow);
        }
        let magnitude = (above << self.mantissa_bits) + rounded;
        if magnitude > self.max_finite() {
            return self.overflowed(negative, round, overflow);
        }
        self.signed(negative, magnitude)
    }

    fn overflowed(self, negative: bool, round: Round, overflow: Overflow) -> u64 {
        let inwards = match round {
            Round::NearestEven | Round::NearestAway => false,
            Round::Zero => true,
            Round::Down => !negative,
            Round::Up => negative,
        };
        if inwards {
            self.signed(negative, self.max_finite())
        } else {
            self.infinity(negative, overflow)
        }
    }

    /// Rounds a finite f64, given by its bits, to this format of at most 24 significant bits. It is
    /// [`Self::encode_number`] without 128-bit arithmetic.
    #[inline]
    pub fn encode_f64(self, bits: u64, round: Round) -> u64 {
        let negative = bits >> 63 != 0;
        let field = (bits >> 52 & 0x7ff) as i32;
        let fraction = bits & ((1 << 52) - 1);
        if field == 0 {
            // A subnormal f64 is far below half of any destination's smallest number.
            let tiny = Number { negative, exponent: -1074, significand: u128::from(fraction) };
            return self.encode_number(tiny, round, Overflow::Ieee);
        }
        let significand = fraction | 1 << 52;
        let leading = field - 1023;
        let binade = leading.max(self.min_exponent());
        let drop = (52 - self.mantissa_bits + binade.abs_diff(leading)).min(63);
        let rounded = round_bits_64(significand, drop, negative, round);
        let above = u64::from(binade.abs_diff(self.min_exponent()));
        let magnitude = (above << self.mantissa_bits) + rounded;
        if magnitude > self.max_finite() {
            return self.overflowed(negative, round, Overflow::Ieee);
        }
        self.signed(negative, magnitude)
    }
}

/// `significand / 2^drop`, rounded to an integer.
#[inline]
pub fn round_bits(significand: u128, drop: u32, negative: bool, round: Round) -> u128 {
    if drop == 0 {
        return significand;
    }
    if drop > 127 {
        // Less than half remains; only the directed modes can see it.
        let rest = significand != 0;
        return u128::from(
            match round {
                Round::NearestEven | Round::Zero => false,
                Round::NearestAway => drop == 128 && significand >> 127 != 0,
                Round::Down => negative && rest,
                Round::Up => !negative && rest,
            } || matches!(round, Round::NearestEven) && drop == 128 && significand > 1 << 127,
        );
    }
    let quotient = significand >> drop;
    let rest = significand & ((1 << drop) - 1);
    let half = 1 << (drop - 1);
    let up = rounds_up(round, negative, quotient & 1 == 1, (rest != 0, rest.cmp(&half)));
    quotient + u128::from(up)
}

/// Whether a quotient, odd or not, is rounded to the next one: `rest` says whether something is left, and how that compares with a half.
#[inline]
fn rounds_up(round: Round, negative: bool, odd: bool, rest: (bool, Ordering)) -> bool {
    match round {
        Round::NearestEven => rest.1.is_gt() || rest.1.is_eq() && odd,
        Round::NearestAway => rest.1.is_ge(),
        Round::Zero => false,
        Round::Down => negative && rest.0,
        Round::Up => !negative && rest.0,
    }
}

/// [`round_bits`] for at most 63 bits and `drop` in 1..=63.
#[inline]
fn round_bits_64(significand: u64, drop: u32, negative: bool, round: Round) -> u64 {
    let quotient = significand >> drop;
    let rest = significand & ((1 << drop) - 1);
    let half = 1 << (drop - 1);
    let up = rounds_up(round, negative, quotient & 1 == 1, (rest != 0, rest.cmp(&half)));
    quotient + u64::from(up)
}
