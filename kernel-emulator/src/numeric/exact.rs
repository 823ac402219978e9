//! Sums, products, quotients and roots of decoded values, exact but for a sticky lowest bit.
//!
//! Each function follows IEEE 754 for zeros, infinities and NaN. A result is not rounded: it goes to
//! [`Format::encode`](super::format::Format::encode), which rounds once. Operands must come from
//! formats of at most 53 significant bits.

use super::format::{Number, Round, Value};

impl Number {
    /// Zero with a sign.
    pub const fn zero(negative: bool) -> Self {
        Self { negative, exponent: 0, significand: 0 }
    }

    /// Whether the value is zero.
    pub const fn is_zero(self) -> bool {
        self.significand == 0
    }

    /// The same value with its leading one at bit 125: room above for a carry, and below for the
    /// bits of a product that a shift must not lose.
    const fn normalized(self) -> Self {
        let Self { negative, exponent, significand } = self;
        let up = significand.leading_zeros().cast_signed() - 2;
        let significand =
            if up >= 0 { significand << up } else { shift_sticky(significand, up.unsigned_abs()) };
        Self { negative, exponent: exponent - up, significand }
    }

    fn negated(self) -> Self {
        Self { negative: !self.negative, ..self }
    }
}

/// `significand >> by`, with the lowest bit set if a one was lost.
const fn shift_sticky(significand: u128, by: u32) -> u128 {
    if by == 0 {
        significand
    } else if by > 127 {
        (significand != 0) as u128
    } else {
        significand >> by | (significand & ((1 << by) - 1) != 0) as u128
    }
}

/// The sum of two numbers. An exact zero from operands of opposite sign is negative only when
/// rounding down (IEEE 754-2019, 6.3).
pub fn add_numbers(a: Number, b: Number, round: Round) -> Number {
    if a.is_zero() && b.is_zero() {
        let negative = if a.negative == b.negative { a.negative } else { round == Round::Down };
        return Number::zero(negative);
    }
    if a.is_zero() {
        return b;
    }
    if b.is_zero() {
        return a;
    }
    let (a, b) = (a.normalized(), b.normalized());
    let (high, low) =
        if (a.exponent, a.significand) >= (b.exponent, b.significand) { (a, b) } else { (b, a) };
    let aligned = shift_sticky(low.significand, high.exponent.abs_diff(low.exponent));
    if high.negative == low.negative {
        return Number { significand: high.significand + aligned, ..high };
    }
    // With the sticky bit standing for a remainder, high - aligned is odd and differs from the true
    // difference by less than one unit, on the side that keeps every rounding decision.
    let significand = high.significand - aligned;
    if significand == 0 {
        Number::zero(round == Round::Down)
    } else {
        Number { significand, ..high }
    }
}

/// The product of two numbers, exact.
pub fn multiply_numbers(a: Number, b: Number) -> Number {
    Number {
        negative: a.negative != b.negative,
        exponent: a.exponent + b.exponent,
        significand: a.significand * b.significand,
    }
}

/// `a + b`.
pub fn add(a: Value, b: Value, round: Round) -> Value {
    match (a, b) {
        (Value::Nan, _) | (_, Value::Nan) => Value::Nan,
        (Value::Infinite { negative: x }, Value::Infinite { negative: y }) if x != y => Value::Nan,
        (Value::Infinite { negative }, _) | (_, Value::Infinite { negative }) => {
            Value::Infinite { negative }
        }
        (Value::Finite(x), Value::Finite(y)) => Value::Finite(add_numbers(x, y, round)),
    }
}

/// `-a`.
pub fn negate(a: Value) -> Value {
    match a {
        Value::Nan => Value::Nan,
        Value::Infinite { negative } => Value::Infinite { negative: !negative },
        Value::Finite(x) => Value::Finite(x.negated()),
    }
}

fn is_negative(a: Value) -> bool {
    match a {
        Value::Nan => false,
        Value::Infinite { negative } => negative,
        Value::Finite(x) => x.negative,
    }
}

fn is_zero(a: Value) -> bool {
    matches!(a, Value::Finite(x) if x.is_zero())
}

/// `a * b`.
pub fn multiply(a: Value, b: Value) -> Value {
    let negative = is_negative(a) != is_negative(b);
    match (a, b) {
        (Value::Nan, _) | (_, Value::Nan) => Value::Nan,
        (Value::Infinite { .. }, _) if is_zero(b) => Value::Nan,
        (_, Value::Infinite { .. }) if is_zero(a) => Value::Nan,
        (Value::Infinite { .. }, _) | (_, Value::Infinite { .. }) => Value::Infinite { negative },
        (Value::Finite(x), Value::Finite(y)) => Value::Finite(multiply_numbers(x, y)),
    }
}

/// `a * b + c`, not rounded between.
pub fn fused(a: Value, b: Value, c: Value, round: Round) -> Value {
    add(multiply(a, b), c, round)
}

/// `a / b`.
pub fn divide(a: Value, b: Value) -> Value {
    let negative = is_negative(a) != is_negative(b);
    match (a, b) {
        (Value::Nan, _) | (_, Value::Nan) | (Value::Infinite { .. }, Value::Infinite { .. }) => {
            Value::Nan
        }
        (Value::Infinite { .. }, _) => Value::Infinite { negative },
        (_, Value::Infinite { .. }) => Value::Finite(Number::zero(negative)),
        (Value::Finite(x), Value::Finite(y)) => match (x.is_zero(), y.is_zero()) {
            (true, true) => Value::Nan,
            (true, false) => Value::Finite(Number::zero(negative)),
            (false, true) => Value::Infinite { negative },
            (false, false) => {
                let x = x.normalized();
                let quotient = x.significand / y.significand;
                let rest = x.significand % y.significand;
                Value::Finite(Number {
                    negative,
                    exponent: x.exponent - y.exponent,
                    significand: quotient | u128::from(rest != 0),
                })
            }
        },
    }
}

/// The square root; negative operands other than -0 give NaN.
pub fn square_root(a: Value) -> Value {
    match a {
        Value::Nan => Value::Nan,
        Value::Infinite { negative } => {
            if negative {
                Value::Nan
            } else {
                a
            }
        }
        Value::Finite(x) if x.is_zero() => a,
        Value::Finite(x) if x.negative => Value::Nan,
        Value::Finite(x) => {
            let x = x.normalized();
            // An even exponent halves; one more factor of two still fits above bit 125.
            let odd = x.exponent.rem_euclid(2);
            let significand = x.significand << odd;
            let root = significand.isqrt();
            Value::Finite(Number {
                negative: false,
                exponent: (x.exponent - odd) / 2,
                significand: root | u128::from(root * root != significand),
            })
        }
    }
}
