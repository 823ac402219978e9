//! What is left of a scalar when it is divided by a power of two.
//!
//! `64 * i + 4` is no multiple of anything above 4, but divided by 8 it leaves 4, whatever `i` is: it is never a multiple of 8. Rests
//! stay right when a sum or product wraps.

use super::{Analysis, Info, MAX_LOG2};
use crate::ir::{Binary, Elem, ElementwiseOp, Type, Unary, Value};

/// A number is `rest` plus a multiple of `2^log2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rest {
    log2: u32,
    /// Less than `2^log2`.
    rest: u32,
}

impl Rest {
    pub(super) const UNKNOWN: Rest = Rest { log2: 0, rest: 0 };

    /// That of a multiple of `2^log2`.
    pub(super) fn none(log2: u32) -> Rest {
        Rest { log2: log2.min(MAX_LOG2), rest: 0 }
    }

    /// That of a constant.
    pub(super) fn of(value: i128) -> Rest {
        Rest::modulo(MAX_LOG2, value)
    }

    fn modulo(log2: u32, value: i128) -> Rest {
        let log2 = log2.min(MAX_LOG2);
        let rest = u32::try_from(value.rem_euclid(1 << log2)).expect("less than 2^MAX_LOG2");
        Rest { log2, rest }
    }

    /// What divides the number for certain, as an exponent.
    fn log2_divisor(self) -> u32 {
        if self.rest == 0 { self.log2 } else { self.rest.trailing_zeros() }
    }

    /// What holds of both.
    pub(super) fn meet(self, other: Rest) -> Rest {
        let apart = (self.rest ^ other.rest).trailing_zeros();
        Rest::modulo(self.log2.min(other.log2).min(apart), self.rest.into())
    }

    pub(super) fn plus(self, other: Rest) -> Rest {
        let sum = i128::from(self.rest) + i128::from(other.rest);
        Rest::modulo(self.log2.min(other.log2), sum)
    }

    fn negated(self) -> Rest {
        Rest::modulo(self.log2, -i128::from(self.rest))
    }

    fn times(self, other: Rest) -> Rest {
        // (a + 2^n x)(b + 2^m y) = ab + 2^m ay + 2^n bx + 2^(n + m) xy
        let log2 = (self.log2 + other.log2_divisor()).min(other.log2 + self.log2_divisor());
        Rest::modulo(log2, i128::from(self.rest) * i128::from(other.rest))
    }

    /// What is left after division by a power of two, if it is known.
    pub(super) fn of_division(self, divisor: u32) -> Option<u32> {
        (divisor.trailing_zeros() <= self.log2).then(|| self.rest % divisor)
    }
}

impl Analysis<'_> {
    /// That of a result of which everything else is known.
    pub(super) fn rest(
        &self,
        op: &ElementwiseOp,
        args: &[Value],
        (info, ty): (&Info, &Type),
    ) -> Rest {
        let of = |index: usize| self.info(args[index]).rest;
        if !matches!(ty, Type::Scalar(Elem::Number(dtype)) if dtype.is_int()) {
            return Rest::none(info.log2_multiple);
        }
        match op {
            ElementwiseOp::Binary(Binary::Add) => of(0).plus(of(1)),
            ElementwiseOp::Binary(Binary::Sub) => of(0).plus(of(1).negated()),
            ElementwiseOp::Binary(Binary::Mul) => of(0).times(of(1)),
            ElementwiseOp::Unary(Unary::Neg) => of(0).negated(),
            ElementwiseOp::Select => of(1).meet(of(2)),
            ElementwiseOp::Cast => info.rest,
            ElementwiseOp::Unary(_)
            | ElementwiseOp::Binary(_)
            | ElementwiseOp::Compare(_)
            | ElementwiseOp::FunnelShift(_)
            | ElementwiseOp::Bitcast
            | ElementwiseOp::Fma => Rest::none(info.log2_multiple),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Rest;

    /// All rests of small divisors, each with some of its numbers.
    fn rests() -> impl Iterator<Item = (Rest, [i128; 4])> {
        let of = |log2: u32| {
            let numbers = move |rest| [-3, 0, 1, 4].map(|times| rest + (times << log2));
            (0..1 << log2).map(move |rest| (Rest::modulo(log2, rest), numbers(rest)))
        };
        (0..4).flat_map(of)
    }

    fn holds(rest: Rest, number: i128) -> bool {
        number.rem_euclid(1 << rest.log2) == i128::from(rest.rest)
    }

    #[test]
    fn a_rest_holds_for_all_numbers_that_it_is_of() {
        for (left, a) in rests() {
            for (right, b) in rests() {
                let both = left.meet(right);
                for a in a {
                    assert!(holds(both, a) && holds(left.negated(), -a), "{left:?} {right:?} {a}");
                    for b in b {
                        let fits =
                            holds(left.plus(right), a + b) && holds(left.times(right), a * b);
                        assert!(fits && holds(both, b), "{left:?} {right:?} {a} {b}");
                    }
                }
            }
        }
    }

    #[test]
    fn sums_and_products_keep_what_is_certain() {
        let sum = Rest::none(6).times(Rest::UNKNOWN).plus(Rest::of(4));
        assert_eq!([sum.of_division(8), sum.of_division(64)], [Some(4), Some(4)]);
        assert_eq!(sum.of_division(128), None);
        assert_eq!(Rest::of(-2).of_division(8), Some(6));
        let odd = Rest::of(3).meet(Rest::of(-1));
        assert_eq!([odd.of_division(4), odd.of_division(8)], [Some(3), None]);
    }
}
