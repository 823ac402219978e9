//! Functions of floats that other operations make up: tests of what a number is, reciprocals and powers.

use crate::{
    diag::Code,
    elaborate::{
        Builder,
        language::value::{Num, Val},
        signatures::Given,
    },
    ir::{Binary, Compare, Const, Unary},
};

/// The greatest exponent that is written out as products.
const MAX_EXPONENT: u32 = 1024;

impl Builder<'_> {
    /// The element type of what a function of floats is called on.
    fn of_floats(&mut self, given: &Given<'_>) -> Option<Num> {
        let what = format!("`{}`", given.path());
        if self.refuse_unreckoned(&what, &[&given.of], given.loc) {
            return None;
        }
        let num = self.num_of(&given.of)?;
        let address = given.of.value().is_some_and(|value| self.is_ptr(value));
        if address || !self.cells.is_float(num) {
            return self.refuse_dtype(&what, "floats", num, given.loc);
        }
        Some(num)
    }

    /// `x.is_nan()`
    pub(crate) fn is_nan(&mut self, given: &Given<'_>) -> Option<Val> {
        self.of_floats(given)?;
        self.compare(Compare::Ne, &given.of, &given.of, given.loc)
    }

    /// `x.is_infinite()` (by `Eq`), `x.is_finite()` (by `Lt`): the absolute value beside infinity. NaN is neither.
    pub(crate) fn beside_infinity(&mut self, op: Compare, given: &Given<'_>) -> Option<Val> {
        let num = self.of_floats(given)?;
        let magnitude = self.unary(Unary::Abs, &given.of, given.loc)?;
        let infinity = Val::Const(Const::Float(f64::INFINITY), num);
        self.compare(op, &magnitude, &infinity, given.loc)
    }

    /// `x.recip()`
    pub(crate) fn recip(&mut self, given: &Given<'_>) -> Option<Val> {
        let num = self.of_floats(given)?;
        Some(self.binary(Binary::Div, &Val::Const(Const::Float(1.0), num), &given.of, given.loc))
    }

    /// `x.clamp(min, max)`
    pub(crate) fn clamp(&mut self, given: &Given<'_>) -> Val {
        let of = self.num_of(&given.of);
        let mut refused = false;
        for bound in 0..2 {
            let num = self.num_of(given.val(bound));
            if let (Some(of), Some(num)) = (of, num)
                && let Some(dtype) = self.cells.known(of)
                && self.cells.known(num).is_none()
                && dtype != crate::ir::Dtype::Bool
                && self.cells.unify(of, num).is_err()
            {
                let headline = "the bounds of `clamp` have another element type";
                let (required, actual) = (self.cells.name(of), self.cells.name(num));
                let diagnostic =
                    Code::DtypeMismatch.at(given.at(bound), headline).compare("", required, actual);
                let diagnostic = self.literal_help(diagnostic, dtype, num);
                self.report(diagnostic);
                refused = true;
            }
        }
        if refused {
            return Val::Error;
        }
        let at_least = self.binary(Binary::Max, &given.of, given.val(0), given.loc);
        self.binary(Binary::Min, &at_least, given.val(1), given.loc)
    }

    /// `x.powi(n)`: squares, and the product of those that `n` is made of; the reciprocal of it if `n` is negative.
    pub(crate) fn powi(&mut self, given: &Given<'_>) -> Option<Val> {
        let (num, loc) = (self.of_floats(given)?, given.loc);
        let exponent = given.integer(0);
        let times = exponent.unsigned_abs();
        let Some(times) = u32::try_from(times).ok().filter(|times| *times <= MAX_EXPONENT) else {
            let power = self.whole_number(&exponent.to_string(), num);
            let x = self.written(&given.of);
            let help = x.map(|x| format!("{x}.powf({power})"));
            return self.refuse(
                Code::Overflow
                    .at(given.at(0), "this power is not written out")
                    .compare("exponent", format!("-{MAX_EXPONENT} to {MAX_EXPONENT}"), exponent)
                    .help_if(help),
            );
        };
        let one = Val::Const(Const::Float(1.0), num);
        let mut power = None;
        let mut square = given.of.clone();
        let mut left = times;
        while left > 0 {
            if left & 1 == 1 {
                power = Some(match power {
                    Some(power) => self.binary(Binary::Mul, &power, &square, loc),
                    None => square.clone(),
                });
            }
            left >>= 1;
            if left > 0 {
                square = self.binary(Binary::Mul, &square, &square, loc);
            }
        }
        let Some(power) = power else {
            // 1 of every number, NaN too.
            let number = self.compare(Compare::Eq, &given.of, &given.of, loc)?;
            return self.select(&number, [&one, &one], loc);
        };
        Some(if exponent < 0 { self.binary(Binary::Div, &one, &power, loc) } else { power })
    }
}
