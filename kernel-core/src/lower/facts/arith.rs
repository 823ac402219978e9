//! What arithmetic does to divisors, runs and constants.

use super::{AxisFacts, EVERYTHING, ValueFacts, power_of_two};
use crate::ir::{Binary, Compare};

/// An operand: what is known of it, and the bytes of one of its steps, where it moves a pointer.
pub(super) struct Operand {
    pub(super) facts: ValueFacts,
    pub(super) scale: u64,
}

impl Operand {
    /// A divisor of the operand's part of the result.
    fn divisor(&self) -> u64 {
        (self.facts.divisor * self.scale).min(EVERYTHING)
    }

    /// A divisor of that part at the starts of runs of `run` elements of `unit` bytes.
    fn divisor_at(&self, axis: &AxisFacts, run: u64, unit: u64) -> u64 {
        if axis.contiguity > run {
            axis.divisor.min(run * unit / self.scale.min(unit)).max(1) * self.scale
        } else {
            (axis.divisor * self.scale).min(EVERYTHING)
        }
    }
}

/// What is known of `a op b`; `unit` is the bytes of an element, if the result is a pointer, or 1.
pub(super) fn binary(op: Binary, a: &Operand, b: &Operand, unit: u64) -> ValueFacts {
    let right = b.facts.constant;
    let constant = a.facts.constant.zip(right).and_then(|(a, b)| fold(op, a, b));
    let divisor = divisor(op, a.divisor(), b.divisor(), right);
    let axes = a.facts.axes.iter().zip(&b.facts.axes).map(|(x, y)| {
        let contiguity = match op {
            Binary::Add => x.contiguity.min(y.constancy).max(x.constancy.min(y.contiguity)),
            Binary::Sub => x.contiguity.min(y.constancy),
            Binary::Mul if right == Some(1) => x.contiguity,
            Binary::Mul
            | Binary::Div
            | Binary::Rem
            | Binary::And
            | Binary::Or
            | Binary::Xor
            | Binary::Shl
            | Binary::Shr
            | Binary::Min
            | Binary::Max => 1,
        };
        let (left, other) = (a.divisor_at(x, contiguity, unit), b.divisor_at(y, contiguity, unit));
        AxisFacts {
            contiguity,
            divisor: self::divisor(op, left, other, right),
            constancy: x.constancy.min(y.constancy),
        }
    });
    ValueFacts { constant, divisor, axes: axes.collect() }
}

/// A power of two that divides `a op b`, from such divisors of both and the value of `b`, if it is known.
fn divisor(op: Binary, a: u64, b: u64, right: Option<i64>) -> u64 {
    let shift = right.filter(|by| (0..32).contains(by));
    match op {
        Binary::Add
        | Binary::Sub
        | Binary::Or
        | Binary::Xor
        | Binary::Min
        | Binary::Max
        | Binary::Rem => a.min(b),
        Binary::Mul => a.saturating_mul(b).min(EVERYTHING),
        Binary::And => a.max(b),
        Binary::Shl => shift.map_or(a, |by| (a << by).min(EVERYTHING)),
        Binary::Shr => shift.map_or(1, |by| (a >> by).max(1)),
        Binary::Div => match right {
            Some(by) if by > 0 && by.cast_unsigned() == power_of_two(by) => {
                (a / by.cast_unsigned()).max(1)
            }
            _ => 1,
        },
    }
}

/// How long runs of equal results of a comparison are.
pub(super) fn comparison(op: Compare, a: &ValueFacts, b: &ValueFacts) -> ValueFacts {
    let axes = a.axes.iter().zip(&b.axes).map(|(x, y)| {
        // Runs that start at a multiple of g, of length g, lie on one side of a bound that is a multiple of g.
        let side = |run: &AxisFacts, bound: &AxisFacts| {
            run.contiguity.min(bound.constancy).min(run.divisor).min(bound.divisor).max(1)
        };
        let runs = match op {
            Compare::Lt | Compare::Ge => side(x, y),
            Compare::Gt | Compare::Le => side(y, x),
            Compare::Eq | Compare::Ne => 1,
        };
        AxisFacts { constancy: x.constancy.min(y.constancy).max(runs), ..AxisFacts::UNKNOWN }
    });
    ValueFacts { constant: None, divisor: 1, axes: axes.collect() }
}

/// `a op b`, if it stays within every type that may hold it.
fn fold(op: Binary, a: i64, b: i64) -> Option<i64> {
    let value = match op {
        Binary::Add => a.checked_add(b),
        Binary::Sub => a.checked_sub(b),
        Binary::Mul => a.checked_mul(b),
        Binary::Div => a.checked_div(b),
        Binary::Rem => a.checked_rem(b),
        Binary::And => Some(a & b),
        Binary::Or => Some(a | b),
        Binary::Xor => Some(a ^ b),
        Binary::Min => Some(a.min(b)),
        Binary::Max => Some(a.max(b)),
        Binary::Shl => u32::try_from(b).ok().and_then(|by| a.checked_shl(by)),
        Binary::Shr => u32::try_from(b).ok().and_then(|by| a.checked_shr(by)),
    };
    value.filter(|value| i32::try_from(*value).is_ok())
}
