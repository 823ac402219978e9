//! The messages about operands whose types do not meet, and about operations that an element type does not have: what converts, and
//! what is written instead.

use super::arith::{symbol, unary_name};
use crate::{
    diag::{Code, Diagnostic},
    elaborate::{
        Builder,
        language::value::{Num, Val},
    },
    ir::{Binary, Const, Dtype, Unary, Value},
    loc::Loc,
};

/// What stands in a help for the operands of the underlined operation, until they are found.
pub(crate) const LEFT: &str = "_LEFT_";
/// The same for the right one.
pub(crate) const RIGHT: &str = "_RIGHT_";

/// Why two element types do not meet.
pub(crate) fn no_promotion(x: Dtype, y: Dtype) -> String {
    let to = wider(x, y);
    let other = if to == x { y } else { x };
    let (to_name, name) = (to.name(), other.name());
    let reason = if to != x && to != y {
        format!("neither of `{}` and `{}` has all numbers of the other", x.name(), y.name())
    } else if to.is_float() && !other.is_float() {
        format!("`{to_name}` has fractions, which `{name}` has not")
    } else if to.bytes() > other.bytes() {
        format!("`{to_name}` has all numbers of `{name}`, and not the other way round")
    } else {
        format!("`{}` and `{}` have as many bits, and different numbers", x.name(), y.name())
    };
    format!("nothing converts by itself; {reason}")
}

/// The type that holds more of both: a float rather than an integer, then the one of more bytes.
pub(crate) fn wider(x: Dtype, y: Dtype) -> Dtype {
    let rank = |dtype: Dtype| (dtype.is_float(), dtype.bytes());
    match (x, y) {
        // Neither holds the other.
        (Dtype::F16, Dtype::Bf16) | (Dtype::Bf16, Dtype::F16) => Dtype::F32,
        (x, y) if x.is_float8() && y.is_float8() => Dtype::F16,
        (x, y) if x.is_float8() && y.is_int() || x.is_int() && y.is_float8() => Dtype::F32,
        _ if rank(x) >= rank(y) => x,
        _ => y,
    }
}

impl Builder<'_> {
    /// Whether one of two operands is no number like the other: see [`Builder::mixed`].
    pub(crate) fn is_mixed(&self, nums: [Num; 2], what: &str) -> bool {
        self.mixed(Code::DtypeMismatch.at(Loc::KERNEL, ""), nums, what).is_some()
    }

    /// The message about operands of which one is no number like the other: a truth value, a float beside bits, a fraction beside an
    /// integer.
    pub(super) fn mixed(
        &self,
        diagnostic: Diagnostic,
        nums: [Num; 2],
        what: &str,
    ) -> Option<Diagnostic> {
        let known = nums.map(|num| self.cells.known(num));
        let floats = nums.map(|num| self.cells.is_float(num));
        if known == [Some(Dtype::Bool); 2] {
            return None;
        }
        if let Some(mask) = known.iter().position(|dtype| *dtype == Some(Dtype::Bool)) {
            let number = 1 - mask;
            let zero = self.whole_number("0", nums[number]);
            let names = [LEFT, RIGHT];
            if matches!(what, "`&`" | "`|`" | "`^`") {
                let help = match self.cells.literal_of(nums[number]) {
                    Some(Const::Int(value)) => (value != 0).to_string(),
                    Some(Const::Float(_) | Const::Bool(_)) | None => format!(".ne({zero})"),
                };
                return Some(
                    diagnostic
                        .why("a mask is combined with another mask: a comparison makes one")
                        .help(help)
                        .of_operand(number, None),
                );
            }
            if what == "`*`" {
                return Some(
                    diagnostic
                        .why("`bool` is no number; `select` keeps what a mask holds for, and has another value for the rest")
                        .help(format!("select({}, {}, {zero})", names[mask], names[number])),
                );
            }
            let to = known[number].filter(|dtype| !dtype.is_opaque());
            let to = to.unwrap_or(if floats[number] { Dtype::F32 } else { Dtype::I32 });
            return Some(
                diagnostic
                    .why("`bool` is no number; `cast` makes 1 of `true` and 0 of `false`")
                    .help(format!(".cast::<{}>()", to.name()))
                    .of_operand(mask, None),
            );
        }
        if what == "a range"
            && let Some(float) = floats.iter().position(|float| *float)
        {
            return Some(
                diagnostic
                    .why("a range counts iterations, in integers")
                    .help(".cast::<i32>()")
                    .of_operand(float, None),
            );
        }
        if let [Some(x), Some(y)] = known
            && let to = wider(x, y)
            && to != x
            && to != y
            && matches!(what, "`+`" | "`-`" | "`*`" | "`/`")
        {
            let (to, symbol) = (to.name(), what.trim_matches('`'));
            return Some(
                diagnostic
                    .why(no_promotion(x, y))
                    .help(format!("{LEFT}.cast::<{to}>() {symbol} {RIGHT}.cast::<{to}>()")),
            );
        }
        if matches!(what, "`&`" | "`|`" | "`^`" | "`<<`" | "`>>`")
            && let Some(float) = floats.iter().position(|float| *float)
        {
            let to = known[1 - float].filter(|dtype| dtype.is_int()).unwrap_or(Dtype::I32);
            let help = match self.cells.literal_of(nums[float]) {
                Some(Const::Float(value)) if value.fract() == 0.0 => format!("{value:.0}"),
                Some(_) | None => format!(".cast::<{}>()", to.name()),
            };
            return Some(
                diagnostic
                    .why(format!("{what} works on the bits of integers; those of a float are a sign, an exponent and a fraction"))
                    .help(help)
                    .of_operand(float, None),
            );
        }
        // A literal with a fraction, or a division by a float: the integer becomes a float.
        let integer = known.iter().position(|dtype| dtype.is_some_and(Dtype::is_int))?;
        let literal = self.cells.literal_of(nums[1 - integer]);
        let Some(Const::Float(value)) = literal.filter(|_| known[1 - integer].is_none()) else {
            return None;
        };
        (value.fract() != 0.0 || what == "`/`").then(|| {
            diagnostic
                .why("integers hold no fractions, and do not become floats by themselves")
                .help(".cast::<f32>()")
                .of_operand(integer, None)
        })
    }

    /// Why an operation is not there for this element type, and what is written instead.
    pub(super) fn instead_of(&self, op: Binary, num: Num) -> Option<(&'static str, String)> {
        let bool = self.cells.known(num) == Some(Dtype::Bool);
        let masks = "a mask has truth values, which `&`, `|`, `^` and `!` combine; `cast` makes numbers of them";
        if op == Binary::Rem && self.cells.is_float(num) {
            return Some((
                "the hardware divides floats without a remainder: it is what the whole part of the quotient leaves",
                format!("{LEFT} - ({LEFT} / {RIGHT}).trunc() * {RIGHT}"),
            ));
        }
        if matches!(op, Binary::And | Binary::Or | Binary::Xor) && self.cells.is_float(num) {
            let symbol = symbol(op).trim_matches('`');
            return Some((
                "bits are combined of integers; `to_bits` gives those of a float",
                format!("{LEFT}.to_bits() {symbol} {RIGHT}.to_bits()"),
            ));
        }
        let combined = match op {
            Binary::Add | Binary::Max => format!("{LEFT} | {RIGHT}"),
            Binary::Mul | Binary::Min => format!("{LEFT} & {RIGHT}"),
            Binary::Sub => format!("{LEFT} & !{RIGHT}"),
            Binary::Div
            | Binary::Rem
            | Binary::And
            | Binary::Or
            | Binary::Xor
            | Binary::Shl
            | Binary::Shr
            | Binary::MulHi
            | Binary::Copysign
            | Binary::Powf => return None,
        };
        bool.then_some((masks, combined))
    }

    /// The message about a shift of a float: a product with a power of two does the same.
    pub(super) fn no_shift(&self, op: Binary, (num, by): (Num, &Val), loc: Loc) -> Diagnostic {
        let diagnostic = self
            .dtype_refused(symbol(op), "integers", num, loc)
            .why("a shift moves the bits of an integer; a float is multiplied by a power of two");
        let Val::Const(Const::Int(by), _) = by else { return diagnostic };
        let Some(by) = i32::try_from(*by).ok().filter(|by| (0..31).contains(by)) else {
            return diagnostic;
        };
        let factor = 2f64.powi(if op == Binary::Shl { by } else { -by });
        let factor = match self.cells.known(num) {
            Some(half) if half.is_half() => format!("{}::of({factor:?})", half.name()),
            Some(_) | None => format!("{factor:?}"),
        };
        diagnostic.help(format!("{LEFT} * {factor}"))
    }

    /// The message for an element type that an operation does not take.
    pub(crate) fn refuse_dtype<T>(
        &mut self,
        what: &str,
        wants: &str,
        num: Num,
        loc: Loc,
    ) -> Option<T> {
        let diagnostic = self.dtype_refused(what, wants, num, loc);
        self.refuse(diagnostic)
    }

    pub(super) fn dtype_refused(&self, what: &str, wants: &str, num: Num, loc: Loc) -> Diagnostic {
        let name = self.cells.name(num);
        Code::DtypeRefused.at(loc, format!("{what} is not defined on `{name}`")).compare(
            "element type",
            wants,
            format!("`{name}`"),
        )
    }

    /// The message about an operation on one operand that its element type does not have.
    pub(super) fn no_unary(&self, (op, x): (Unary, Value), wants: &str, loc: Loc) -> Diagnostic {
        let num = self.num(x);
        let (float, known) = (self.cells.is_float(num), self.cells.known(num));
        let diagnostic = self.dtype_refused(&unary_name(op), wants, num, loc);
        let scalar = self.is_scalar(x);
        match (op, known) {
            (Unary::Neg, Some(Dtype::Bool)) => diagnostic
                .why("a truth value has no sign; `!` is its opposite")
                .help(format!("!{LEFT}")),
            (Unary::Neg, Some(dtype)) => {
                let to = if dtype.bytes() < 4 { "i32" } else { "i64" };
                diagnostic
                    .why(format!(
                        "an unsigned number is never below zero; `{to}` has a sign and room for it"
                    ))
                    .help(format!("-{LEFT}.cast::<{to}>()"))
            }
            (Unary::Not, _) if float => {
                let zero = self.whole_number("0", num);
                let help =
                    if scalar { format!("{LEFT} == {zero}") } else { format!("{LEFT}.eq({zero})") };
                diagnostic
                    .why(
                        "`!` flips the bits of an integer or a mask; a float is compared with zero",
                    )
                    .help(help)
            }
            (_, _) => diagnostic,
        }
    }

    /// Makes the element type of the first and the third operand one, or reports.
    pub(super) fn third_operand(
        &mut self,
        a: Value,
        c: Value,
        what: &str,
        loc: Loc,
    ) -> Option<Num> {
        let nums = [a, c].map(|value| self.num(value));
        if let Some((_, actual, why, help)) =
            self.literal_beside(Some(a), nums[1], crate::elaborate::generic::Side::Right)
        {
            let diagnostic = Code::DtypeMismatch
                .at(loc, format!("the operands of {what} have different element types"))
                .compare("", "one element type in all operands", actual)
                .why(why);
            return self.refuse(diagnostic.help_if(help).of_operand(2, None));
        }
        let Some(x) =
            self.cells.known(nums[0]).filter(|_| self.cells.unify(nums[0], nums[1]).is_err())
        else {
            return self.unify_values(a, c, what, loc);
        };
        let [left, right] = nums.map(|num| self.cells.name(num));
        let diagnostic = Code::DtypeMismatch
            .at(loc, format!("the operands of {what} have different element types"))
            .compare("", "one element type in all operands", format!("{left} and {right}"));
        let diagnostic = match self.cells.known(nums[1]) {
            Some(y) => {
                let to = wider(x, y);
                let operand = if to == x { 2 } else { 0 };
                self.cast_help(diagnostic.why(no_promotion(x, y)), to, nums[0])
                    .of_operand(operand, None)
            }
            None => self.literal_help(diagnostic, x, nums[1]).of_operand(2, None),
        };
        self.refuse(diagnostic)
    }
}
