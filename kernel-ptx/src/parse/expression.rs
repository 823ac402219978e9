//! Constant expressions (PTX ISA, "Constant Expressions").
//!
//! Integers are 64 bits wide and either `.s64` or `.u64`; arithmetic wraps.

use super::Parser;
use super::lexer::Kind;
use crate::ParseError;

/// The value of a constant expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    /// An `.s64`.
    Signed(i64),
    /// A `.u64`.
    Unsigned(u64),
    /// A decimal floating-point value, an `.f64` in the manual's rules.
    Float(f64),
    /// The bits of a `0f` literal.
    F32(u32),
    /// The bits of a `0d` literal.
    F64(u64),
}

/// The two operands of an integer operator after the usual conversions.
enum Same {
    Signed(i64, i64),
    Unsigned(u64, u64),
    Float(f64, f64),
}

impl Value {
    /// The integer, if it is one.
    pub(super) fn integer(self) -> Option<i128> {
        match self {
            Value::Signed(value) => Some(i128::from(value)),
            Value::Unsigned(value) => Some(i128::from(value)),
            Value::Float(_) | Value::F32(_) | Value::F64(_) => None,
        }
    }

    fn truth(self) -> Option<bool> {
        self.integer().map(|value| value != 0)
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "an integer beside a float becomes the nearest float"
    )]
    fn float(self) -> f64 {
        match self {
            Value::Signed(value) => value as f64,
            Value::Unsigned(value) => value as f64,
            Value::Float(value) => value,
            Value::F32(bits) => f64::from(f32::from_bits(bits)),
            Value::F64(bits) => f64::from_bits(bits),
        }
    }

    #[expect(clippy::cast_sign_loss, reason = "conversion to .u64 keeps the bits")]
    fn pair(self, other: Value) -> Same {
        match (self, other) {
            (Value::Signed(a), Value::Signed(b)) => Same::Signed(a, b),
            (Value::Signed(a), Value::Unsigned(b)) => Same::Unsigned(a as u64, b),
            (Value::Unsigned(a), Value::Signed(b)) => Same::Unsigned(a, b as u64),
            (Value::Unsigned(a), Value::Unsigned(b)) => Same::Unsigned(a, b),
            _ => Same::Float(self.float(), other.float()),
        }
    }
}

/// Binary operators from the loosest to the tightest.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", "<=", ">", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

#[expect(clippy::cast_sign_loss, reason = "a shift count is taken by its bits")]
fn shift(left: Value, right: Value, op: &str) -> Option<Value> {
    let count = match right {
        Value::Signed(count) => count as u64,
        Value::Unsigned(count) => count,
        Value::Float(_) | Value::F32(_) | Value::F64(_) => return None,
    };
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    match (left, op) {
        (Value::Signed(value), "<<") => Some(Value::Signed(value.checked_shl(count).unwrap_or(0))),
        (Value::Signed(value), _) => Some(Value::Signed(value >> count.min(63))),
        (Value::Unsigned(value), "<<") => {
            Some(Value::Unsigned(value.checked_shl(count).unwrap_or(0)))
        }
        (Value::Unsigned(value), _) => Some(Value::Unsigned(value.checked_shr(count).unwrap_or(0))),
        (Value::Float(_) | Value::F32(_) | Value::F64(_), _) => None,
    }
}

#[expect(clippy::float_cmp, reason = "the comparison that the text asks for")]
fn compare(left: Value, right: Value, op: &str) -> Value {
    let (equal, less) = match left.pair(right) {
        Same::Signed(a, b) => (a == b, a < b),
        Same::Unsigned(a, b) => (a == b, a < b),
        Same::Float(a, b) => (a == b, a < b),
    };
    let truth = match op {
        "==" => equal,
        "!=" => !equal,
        "<" => less,
        "<=" => less || equal,
        ">" => !less && !equal,
        _ => !less,
    };
    Value::Signed(i64::from(truth))
}

/// `None` where the operator has no meaning: a float's bits, a division by zero.
fn binary(left: Value, right: Value, op: &str) -> Option<Value> {
    match op {
        "||" => Some(Value::Signed(i64::from(left.truth()? || right.truth()?))),
        "&&" => Some(Value::Signed(i64::from(left.truth()? && right.truth()?))),
        "<<" | ">>" => shift(left, right, op),
        "==" | "!=" | "<" | "<=" | ">" | ">=" => Some(compare(left, right, op)),
        _ => match left.pair(right) {
            Same::Signed(a, b) => Some(Value::Signed(match op {
                "|" => a | b,
                "^" => a ^ b,
                "&" => a & b,
                "+" => a.wrapping_add(b),
                "-" => a.wrapping_sub(b),
                "*" => a.wrapping_mul(b),
                "/" if b != 0 => a.wrapping_div(b),
                "%" if b != 0 => a.wrapping_rem(b),
                _ => return None,
            })),
            Same::Unsigned(a, b) => Some(Value::Unsigned(match op {
                "|" => a | b,
                "^" => a ^ b,
                "&" => a & b,
                "+" => a.wrapping_add(b),
                "-" => a.wrapping_sub(b),
                "*" => a.wrapping_mul(b),
                "/" => a.checked_div(b)?,
                "%" => a.checked_rem(b)?,
                _ => return None,
            })),
            Same::Float(a, b) => Some(Value::Float(match op {
                "+" => a + b,
                "-" => a - b,
                "*" => a * b,
                "/" => a / b,
                _ => return None,
            })),
        },
    }
}

impl Parser<'_> {
    /// An expression with `?:` at the top.
    pub(super) fn expression(&mut self) -> Result<Value, ParseError> {
        self.deeper(|parser| {
            let condition = parser.binary_level(0)?;
            if !parser.eat("?") {
                return Ok(condition);
            }
            let Some(truth) = condition.truth() else {
                return Err(parser.error("an integer before `?`"));
            };
            let first = parser.expression()?;
            parser.expect(":")?;
            let second = parser.expression()?;
            Ok(if truth { first } else { second })
        })
    }

    /// An expression whose value is an integer.
    pub(super) fn integer(&mut self) -> Result<i128, ParseError> {
        let at = self.at;
        match self.expression()?.integer() {
            Some(value) => Ok(value),
            None => Err(self.error_at(at, "an integer")),
        }
    }

    /// An expression whose value is an integer in `0..=limit`.
    pub(super) fn count(&mut self, limit: u64) -> Result<u64, ParseError> {
        let at = self.at;
        let value = self.integer()?;
        u64::try_from(value)
            .ok()
            .filter(|value| *value <= limit)
            .ok_or_else(|| self.error_at(at, &format!("an integer from 0 to {limit}")))
    }

    /// An integer in `0..=u32::MAX`.
    pub(super) fn count_u32(&mut self) -> Result<u32, ParseError> {
        let at = self.at;
        let value = self.count(u64::from(u32::MAX))?;
        u32::try_from(value).map_err(|_| self.error_at(at, "an integer of 32 bits"))
    }

    /// A sum, without shifts and comparisons: what stands between `<` and `>` of `%r<9>`.
    pub(super) fn sum(&mut self) -> Result<Value, ParseError> {
        self.binary_level(LEVELS.len() - 2)
    }

    fn binary_level(&mut self, level: usize) -> Result<Value, ParseError> {
        let Some(ops) = LEVELS.get(level) else {
            return self.unary();
        };
        let mut left = self.binary_level(level + 1)?;
        while let Kind::Mark(mark) = self.kind()
            && ops.contains(&mark)
        {
            let at = self.at;
            self.at += 1;
            let right = self.binary_level(level + 1)?;
            left = binary(left, right, mark)
                .ok_or_else(|| self.error_at(at, "an operator that its operands have"))?;
        }
        Ok(left)
    }

    #[expect(
        clippy::cast_sign_loss,
        clippy::cast_possible_wrap,
        reason = "casts of constant expressions keep the bits"
    )]
    fn unary(&mut self) -> Result<Value, ParseError> {
        let at = self.at;
        let value = match self.kind() {
            Kind::Mark("-") => {
                self.at += 1;
                if matches!(self.kind(), Kind::Int(literal, _) if literal == 1 << 63) {
                    // The one negative number whose magnitude is not an `.s64`.
                    self.at += 1;
                    return Ok(Value::Signed(i64::MIN));
                }
                match self.deeper(Self::unary)? {
                    Value::Signed(value) => Value::Signed(value.wrapping_neg()),
                    Value::Unsigned(value) => Value::Unsigned(value.wrapping_neg()),
                    Value::Float(value) => Value::Float(-value),
                    Value::F32(bits) => Value::F32(bits ^ 1 << 31),
                    Value::F64(bits) => Value::F64(bits ^ 1 << 63),
                }
            }
            Kind::Mark("+") => {
                self.at += 1;
                self.deeper(Self::unary)?
            }
            Kind::Mark("!") => {
                self.at += 1;
                let truth = self.deeper(Self::unary)?.truth();
                Value::Signed(i64::from(!truth.ok_or_else(|| self.error_at(at, "an integer"))?))
            }
            Kind::Mark("~") => {
                self.at += 1;
                match self.deeper(Self::unary)? {
                    Value::Signed(value) => Value::Signed(!value),
                    Value::Unsigned(value) => Value::Unsigned(!value),
                    Value::Float(_) | Value::F32(_) | Value::F64(_) => {
                        return Err(self.error_at(at, "an integer"));
                    }
                }
            }
            Kind::Mark("(") => {
                self.at += 1;
                if let Kind::Dot(word @ ("s64" | "u64")) = self.kind() {
                    self.at += 1;
                    self.expect(")")?;
                    let value = self.deeper(Self::unary)?;
                    match (value, word) {
                        (Value::Unsigned(value), "s64") => Value::Signed(value as i64),
                        (Value::Signed(value), "u64") => Value::Unsigned(value as u64),
                        (Value::Signed(_) | Value::Unsigned(_), _) => value,
                        (Value::Float(_) | Value::F32(_) | Value::F64(_), _) => {
                            return Err(self.error_at(at, "an integer"));
                        }
                    }
                } else {
                    let value = self.expression()?;
                    self.expect(")")?;
                    value
                }
            }
            Kind::Int(value, true) => self.literal(Value::Unsigned(value)),
            Kind::Int(value, false) => self.literal(Value::Signed(value as i64)),
            Kind::F32(bits) => self.literal(Value::F32(bits)),
            Kind::F64(bits) => self.literal(Value::F64(bits)),
            Kind::Decimal(value) => self.literal(Value::Float(value)),
            Kind::Name("WARP_SZ") => self.literal(Value::Signed(32)),
            Kind::Name(_) | Kind::Dot(_) | Kind::Text(_) | Kind::Mark(_) | Kind::End => {
                return Err(self.error("an operand"));
            }
        };
        Ok(value)
    }

    fn literal(&mut self, value: Value) -> Value {
        self.at += 1;
        value
    }
}
