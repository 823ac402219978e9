//! Arithmetic: constant folding, conversion of operands to one type and shape, operations on the rest.

pub(crate) use super::mixed::{LEFT, RIGHT, no_promotion, wider};
use crate::{
    diag::{Code, Diagnostic},
    elaborate::{
        Builder,
        language::value::{Num, Val},
        messages::in_place::to_i32,
    },
    ir::{
        Binary, Compare, Const, Dtype, Elem, ElementwiseOp, Transcendental, Type, Unary, Value,
        dtype::{Class, Float, Format},
    },
    loc::Loc,
};

/// Whether an integer is in the range of a type. Floats hold any constant.
pub(crate) fn fits(value: i128, dtype: Dtype) -> bool {
    match int_range(dtype) {
        Some((lo, hi)) => (lo..=hi).contains(&value),
        None => true,
    }
}

/// Smallest and largest value of an integer type.
pub(crate) fn int_range(dtype: Dtype) -> Option<(i128, i128)> {
    if !dtype.is_int() {
        return None;
    }
    let bits = dtype.bytes() * 8;
    Some(if dtype.is_signed() {
        (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
    } else {
        (0, (1i128 << bits) - 1)
    })
}

/// The range of an integer type in words.
pub(crate) fn range_text(dtype: Dtype) -> String {
    match int_range(dtype) {
        Some((lo, hi)) => format!("{lo} to {hi} ({})", dtype.name()),
        None => dtype.name().to_owned(),
    }
}

/// A constant rounded to a float type, to nearest even.
pub(crate) fn round_float(value: f64, dtype: Dtype) -> f64 {
    match dtype.class() {
        #[expect(clippy::cast_possible_truncation, reason = "rounding is required")]
        Class::Float(Float::F32) => f64::from(value as f32),
        Class::Float(float @ (Float::F16 | Float::Bf16)) => round_to(value, float.format()),
        // As `cvt.rn.satfinite` does, which knows no other way than to stay finite (PTX ISA, "cvt").
        Class::Float8(float) => {
            let Format { max, .. } = float.format();
            round_to(value, Format { max: f64::INFINITY, ..float.format() }).clamp(-max, max)
        }
        Class::Float(Float::F64)
        | Class::Bool
        | Class::Signed
        | Class::Unsigned
        | Class::Opaque => value,
    }
}

/// Rounds to a format, beyond whose largest number everything is infinite.
fn round_to(value: f64, Format { fraction_bits, least_exponent, max }: Format) -> f64 {
    if !value.is_finite() || value == 0.0 {
        return value;
    }
    let exponent = {
        let bits = (value.to_bits() >> 52) & 0x7ff;
        i32::try_from(bits).expect("11 bits") - 1023
    };
    // The distance between neighbours at this magnitude; below the smallest normal it stays the same.
    let ulp = (exponent.max(least_exponent) - fraction_bits.cast_signed()).clamp(-1074, 1023);
    let scale = 2f64.powi(ulp);
    let scaled = value / scale;
    let rounded = scaled.round_ties_even() * scale;
    if rounded.abs() > max { f64::INFINITY.copysign(value) } else { rounded }
}

impl Builder<'_> {
    /// `a op b` on scalars and tiles, in any mix.
    pub(crate) fn binary(&mut self, op: Binary, a: &Val, b: &Val, loc: Loc) -> Val {
        let (a, b) = (self.plain(a.clone()), self.plain(b.clone()));
        if matches!(a, Val::Never) || matches!(b, Val::Never) {
            return Val::Never;
        }
        self.computed(op, &a, &b, loc).unwrap_or(Val::Error)
    }

    fn computed(&mut self, op: Binary, a: &Val, b: &Val, loc: Loc) -> Option<Val> {
        if matches!(a, Val::Error)
            || matches!(b, Val::Error)
            || self.refuse_unreckoned(symbol(op), &[a, b], loc)
        {
            return None;
        }
        if let (Val::Const(x, p), Val::Const(y, q)) = (a, b) {
            let shift = matches!(op, Binary::Shl | Binary::Shr);
            let num = if shift { *p } else { self.unify(*p, *q, symbol(op), loc)? };
            if let Some(folded) = self.fold(op, *x, *y, num, loc) {
                self.cells.forget_literal(num);
                return Some(folded);
            }
        }
        let (x, y) = (self.value(a, loc), self.value(b, loc));
        let (x, y) = (x?, y?);
        if self.is_ptr(x) || self.is_ptr(y) {
            return self.pointer_arithmetic(op, x, y, loc);
        }
        self.scalar_as_tile(x, y, symbol(op), loc)?;
        let (x, y) = self.same_shape(x, y, symbol(op), loc)?;
        if matches!(op, Binary::Shl | Binary::Shr) && self.cells.is_float(self.num(x)) {
            // A number of the same type beside it would not help.
            let diagnostic = self.no_shift(op, (self.num(x), b), loc);
            return self.refuse(diagnostic);
        }
        let num = self.unify_values(x, y, symbol(op), loc)?;
        let bits = matches!(op, Binary::And | Binary::Or | Binary::Xor);
        let ints = matches!(op, Binary::Rem | Binary::Shl | Binary::Shr | Binary::MulHi);
        let floats = matches!(op, Binary::Copysign | Binary::Powf);
        let refused = match self.cells.known(num) {
            Some(dtype) if bits => dtype.is_float(),
            Some(dtype) if ints => !dtype.is_int(),
            Some(_) | None if floats => !self.cells.is_float(num),
            Some(Dtype::Bool) => true,
            Some(_) => false,
            None => (bits || ints) && self.cells.is_float(num),
        };
        if refused || (op == Binary::Rem && self.cells.is_float(num)) {
            let wants = match (bits, ints) {
                _ if floats => "floats",
                (true, _) => "integers or `bool`",
                (false, true) => "integers",
                (false, false) => "numbers",
            };
            let instead = self.instead_of(op, num);
            let diagnostic = self.dtype_refused(symbol(op), wants, num, loc);
            return self.refuse(match instead {
                Some((why, help)) => diagnostic.advised(why, &help),
                None => diagnostic,
            });
        }
        let shape = self.tile_shape(x);
        Some(Val::Value(self.emit_num(op, vec![x, y], shape, num, loc)))
    }

    /// Reports arithmetic on what is stored and moved, but not computed with.
    pub(crate) fn refuse_unreckoned(&mut self, what: &str, operands: &[&Val], loc: Loc) -> bool {
        let known = operands.iter().find_map(|val| {
            let unreckoned = |dtype: &Dtype| *dtype != Dtype::Bool && !dtype.has_arithmetic();
            self.number_type(val).filter(unreckoned).map(|dtype| (*val, dtype))
        });
        let Some((val, dtype)) = known else { return false };
        let written = self.written(val).unwrap_or_default();
        self.report(no_arithmetic(what, dtype, &written, loc));
        true
    }

    /// The type of a constant, or of the elements of what is neither addresses nor a window.
    fn number_type(&self, val: &Val) -> Option<Dtype> {
        let other = |value| self.is_ptr(value) || self.is_handle(value);
        self.cells.known(self.num_of(val).filter(|_| !val.value().is_some_and(other))?)
    }

    /// Makes two element types one, or reports.
    pub(crate) fn unify(&mut self, a: Num, b: Num, what: &str, loc: Loc) -> Option<Num> {
        match self.cells.unify(a, b) {
            Ok(num) => Some(num),
            Err((left, right)) => {
                let mut diagnostic = Code::DtypeMismatch
                    .at(loc, format!("the operands of {what} have different element types"))
                    .compare("", "one element type on both sides", format!("{left} and {right}"));
                let index = [a, b].into_iter().position(|num| self.cells.is_index(num));
                if let Some(index) = index {
                    return self.refuse(to_i32(diagnostic, index));
                }
                if let Some(mixed) = self.mixed(diagnostic.clone(), [a, b], what) {
                    return self.refuse(mixed);
                }
                diagnostic = match (self.cells.known(a), self.cells.known(b)) {
                    (Some(x), Some(_)) if x.is_opaque() => self.cast_help(diagnostic, x, b),
                    (Some(x), Some(y)) => {
                        let to = wider(x, y);
                        self.cast_help(diagnostic.why(no_promotion(x, y)), to, a)
                            .of_operand(usize::from(to == x), None)
                    }
                    (Some(dtype), None) => {
                        self.literal_help(diagnostic, dtype, b).of_operand(1, None)
                    }
                    (None, Some(dtype)) => {
                        self.literal_help(diagnostic, dtype, a).of_operand(0, None)
                    }
                    // Of two literals, the integer is the one of the wrong form.
                    (None, None) => {
                        let integer = if self.cells.is_float(a) { b } else { a };
                        self.literal_help(diagnostic, Dtype::F64, integer)
                    }
                };
                self.refuse(diagnostic)
            }
        }
    }

    /// How what is of another element type becomes one of `dtype`: by a conversion, if there are any.
    pub(crate) fn cast_help(&self, diagnostic: Diagnostic, dtype: Dtype, of: Num) -> Diagnostic {
        let from = self.cells.known(of).filter(|from| from.is_opaque());
        match from.or_else(|| dtype.is_opaque().then_some(dtype)) {
            None => diagnostic.help(format!(".cast::<{}>()", dtype.name())),
            Some(_) if dtype.is_opaque() && self.cells.known(of).is_none() => {
                self.literal_help(diagnostic, dtype, of)
            }
            Some(opaque_one) => diagnostic.why(opaque(opaque_one)),
        }
    }

    /// How a literal is written to be of an element type that it is not of. Its own value, or no code at all: what
    /// is pasted must not change the program.
    pub(crate) fn literal_help(&self, diagnostic: Diagnostic, dtype: Dtype, of: Num) -> Diagnostic {
        let name = dtype.name();
        #[expect(clippy::cast_precision_loss, reason = "it is shown as Rust shows floats")]
        let float = match self.cells.literal_of(of) {
            Some(Const::Int(value)) => Some(value as f64),
            Some(Const::Float(value)) => Some(value),
            Some(Const::Bool(_)) | None => None,
        };
        let (why, help) = match (dtype.class(), float) {
            (Class::Float8(_), value) => (
                format!(
                    "Rust has no literals of `{name}`; `{name}::from_f32` makes one at compile time"
                ),
                value.map(|value| format!("{name}::from_f32({value:?})")),
            ),
            (Class::Opaque, _) => (
                format!(
                    "Rust has no literals of `{name}`; `{name}::from_bits` makes one at compile time"
                ),
                match self.cells.literal_of(of) {
                    Some(Const::Int(bits @ 0..=255)) => Some(format!("{name}::from_bits({bits})")),
                    _ => None,
                },
            ),
            (Class::Float(Float::F16 | Float::Bf16), value) => (
                format!("Rust has no literals of `{name}`; `{name}::of` makes one at compile time"),
                value.map(|value| format!("{name}::of({value:?})")),
            ),
            (Class::Float(Float::F32 | Float::F64), value) => (
                "an integer literal does not become a float by itself".to_owned(),
                // What is no literal is converted.
                value
                    .map_or(Some(format!(".cast::<{name}>()")), |value| Some(format!("{value:?}"))),
            ),
            (Class::Bool, _) => ("a number is not a truth value".to_owned(), None),
            (Class::Signed | Class::Unsigned, Some(value))
                if value.fract() == 0.0 && value.abs() < 1e15 =>
            {
                (
                    "a float literal does not become an integer by itself".to_owned(),
                    Some(format!("{value:.0}")),
                )
            }
            (Class::Signed | Class::Unsigned, Some(_)) => (
                format!(
                    "`{name}` holds no fractions; `.cast::<f32>()` makes a float of the other side"
                ),
                None,
            ),
            (Class::Signed | Class::Unsigned, None) => {
                ("a float literal does not become an integer by itself".to_owned(), None)
            }
        };
        let diagnostic = diagnostic.why(why);
        diagnostic.help_if(help)
    }

    /// The extents of a tile; `None` for a scalar.
    pub(crate) fn tile_shape(&self, value: Value) -> Option<Vec<u32>> {
        if let Type::Tile(_, shape) = self.ty(value) { Some(shape.clone()) } else { None }
    }

    /// Reports operands of which some are addresses and others are numbers.
    fn same_kind(&mut self, operands: &[Value], what: &str, loc: Loc) -> bool {
        let address = operands.iter().find(|operand| self.is_ptr(**operand));
        let number = operands.iter().find(|operand| !self.is_ptr(**operand));
        let (Some(address), Some(number)) = (address, number) else { return true };
        let [address, number] = [*address, *number].map(|value| self.describe(&Val::Value(value)));
        self.report(
            Code::Kind
                .at(loc, format!("{what} cannot combine an address with a number"))
                .compare("", "addresses or numbers", format!("{address} and {number}"))
                .help("load(p)"),
        );
        false
    }

    fn pointer_arithmetic(&mut self, op: Binary, x: Value, y: Value, loc: Loc) -> Option<Val> {
        if !self.is_ptr(x) || self.is_ptr(y) || !matches!(op, Binary::Add | Binary::Sub) {
            let headline =
                "an address takes `+` and `-` with an integer on the right, which counts elements";
            return self.refuse(Code::Kind.at(loc, headline));
        }
        let (x, y) = self.same_shape(x, y, symbol(op), loc)?;
        let offset = self.num(y);
        match self.cells.find(offset) {
            Num::Known(Dtype::I32 | Dtype::I64) => {}
            Num::Cell(_) if !self.cells.is_float(offset) => {
                let _ = self.cells.unify(offset, Num::Known(Dtype::I32));
            }
            other @ (Num::Known(_) | Num::Cell(_)) => {
                let what = "pointer arithmetic";
                let wide = self
                    .cells
                    .known(other)
                    .is_some_and(|dtype| dtype.is_int() && dtype.bytes() >= 4);
                let to = if wide { "i64" } else { "i32" };
                let diagnostic = self.dtype_refused(what, "`i32` or `i64` offsets", other, loc);
                return self.refuse(
                    diagnostic
                        .why("an address moves by whole elements, forward or back")
                        .help(format!(".cast::<{to}>()"))
                        .of_operand(1, None),
                );
            }
        }
        let ty = self.ty(x).clone();
        Some(Val::Value(self.emit(op, vec![x, y], ty, loc)))
    }

    /// Folds two constants; `None` if the result depends on rounding that is settled later.
    fn fold(&mut self, op: Binary, x: Const, y: Const, num: Num, loc: Loc) -> Option<Val> {
        match (x, y) {
            (Const::Int(a), Const::Int(b)) => {
                let value = match op {
                    Binary::Add => a.checked_add(b),
                    Binary::Sub => a.checked_sub(b),
                    Binary::Mul => a.checked_mul(b),
                    Binary::Div => a.checked_div(b),
                    Binary::Rem => a.checked_rem(b),
                    Binary::And => Some(a & b),
                    Binary::Or => Some(a | b),
                    Binary::Xor => Some(a ^ b),
                    Binary::Shl => {
                        u32::try_from(b).ok().filter(|b| *b < 64).and_then(|b| a.checked_shl(b))
                    }
                    Binary::Shr => {
                        u32::try_from(b).ok().filter(|b| *b < 64).and_then(|b| a.checked_shr(b))
                    }
                    Binary::Min => Some(a.min(b)),
                    Binary::Max => Some(a.max(b)),
                    Binary::MulHi | Binary::Copysign | Binary::Powf => return None,
                };
                let dtype = self.cells.known(num);
                let in_range = |value: &i128| match dtype {
                    Some(dtype) => fits(*value, dtype),
                    // No type that it could still take holds more.
                    None => (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(value),
                };
                match value.filter(in_range) {
                    Some(value) => Some(Val::Const(Const::Int(value), num)),
                    None if b == 0 && matches!(op, Binary::Div | Binary::Rem) => {
                        Some(self.error(Code::Overflow, loc, "division of a constant by zero"))
                    }
                    None => {
                        let range = dtype.map_or("64 bits".to_owned(), range_text);
                        let sum = format!("{a} {} {b} overflows", symbol(op).trim_matches('`'));
                        let diagnostic = Code::Overflow.at(loc, sum);
                        Some(self.report(diagnostic.compare("", range, "a result outside")))
                    }
                }
            }
            (Const::Float(a), Const::Float(b)) => {
                let value = match op {
                    Binary::Add => a + b,
                    Binary::Sub => a - b,
                    Binary::Mul => a * b,
                    Binary::Div => a / b,
                    Binary::Min => a.min(b),
                    Binary::Max => a.max(b),
                    Binary::Copysign => a.copysign(b),
                    // What the compiler's own library computes differs from system to system.
                    Binary::Powf => return None,
                    Binary::Rem
                    | Binary::And
                    | Binary::Or
                    | Binary::Xor
                    | Binary::Shl
                    | Binary::Shr
                    | Binary::MulHi => {
                        let refused = self.refuse_dtype(symbol(op), "integers", num, loc);
                        return refused.or(Some(Val::Error));
                    }
                };
                if let Some(dtype) = self.cells.known(num) {
                    // Twice the precision and more: rounding the f64 result again changes nothing.
                    return Some(Val::Const(Const::Float(round_float(value, dtype)), num));
                }
                let exact = |v: f64| round_float(v, Dtype::F32).to_bits() == v.to_bits();
                (exact(a) && exact(b) && exact(value))
                    .then_some(Val::Const(Const::Float(value), num))
            }
            (Const::Bool(a), Const::Bool(b)) => {
                let value = if op == Binary::And {
                    a & b
                } else if op == Binary::Or {
                    a | b
                } else if op == Binary::Xor {
                    a ^ b
                } else {
                    let refused = self.refuse_dtype(symbol(op), "numbers", num, loc);
                    return refused.or(Some(Val::Error));
                };
                Some(Val::Const(Const::Bool(value), num))
            }
            _ => None,
        }
    }

    /// `a < b` and so on.
    pub(crate) fn compare(&mut self, op: Compare, a: &Val, b: &Val, loc: Loc) -> Option<Val> {
        const WHAT: &str = "a comparison";
        let (a, b) = (self.plain(a.clone()), self.plain(b.clone()));
        if a.is_absent() || b.is_absent() || self.refuse_unreckoned(WHAT, &[&a, &b], loc) {
            return None;
        }
        let bool_num = Num::Known(Dtype::Bool);
        if let (Val::Const(x, p), Val::Const(y, q)) = (&a, &b) {
            self.unify(*p, *q, WHAT, loc)?;
            let order = match (x, y) {
                (Const::Int(x), Const::Int(y)) => Some(x.cmp(y)),
                (Const::Bool(x), Const::Bool(y)) => Some(x.cmp(y)),
                (Const::Float(x), Const::Float(y)) => x.partial_cmp(y),
                _ => None,
            };
            let holds = match op {
                Compare::Lt => order.is_some_and(std::cmp::Ordering::is_lt),
                Compare::Le => order.is_some_and(std::cmp::Ordering::is_le),
                Compare::Gt => order.is_some_and(std::cmp::Ordering::is_gt),
                Compare::Ge => order.is_some_and(std::cmp::Ordering::is_ge),
                Compare::Eq => order.is_some_and(std::cmp::Ordering::is_eq),
                Compare::Ne => !order.is_some_and(std::cmp::Ordering::is_eq),
            };
            return Some(Val::Const(Const::Bool(holds), bool_num));
        }
        let (x, y) = (self.value(&a, loc), self.value(&b, loc));
        let (x, y) = (x?, y?);
        if !self.same_kind(&[x, y], WHAT, loc) {
            return None;
        }
        if self.is_ptr(x) && !matches!(op, Compare::Eq | Compare::Ne) {
            let headline = "addresses can be equal, but they have no order";
            return self.refuse(Code::Kind.at(loc, headline));
        }
        let (x, y) = self.same_shape(x, y, WHAT, loc)?;
        let num = self.unify_values(x, y, WHAT, loc)?;
        if self.cells.known(num) == Some(Dtype::Bool) && !matches!(op, Compare::Eq | Compare::Ne) {
            return self.refuse_dtype("an order", "numbers", num, loc);
        }
        let ty = match self.tile_shape(x) {
            None => Type::scalar(Dtype::Bool),
            Some(shape) => Type::Tile(Elem::Number(Dtype::Bool), shape),
        };
        Some(Val::Value(self.emit(op, vec![x, y], ty, loc)))
    }

    /// An operation on one operand.
    pub(crate) fn unary(&mut self, op: Unary, a: &Val, loc: Loc) -> Option<Val> {
        let a = self.plain(a.clone());
        if self.refuse_unreckoned(&unary_name(op), &[&a], loc) {
            return None;
        }
        if let Val::Const(value, num) = &a {
            let folded = match (op, value) {
                (Unary::Neg, Const::Int(v)) => Some(Const::Int(-v)),
                (Unary::Neg, Const::Float(v)) => Some(Const::Float(-v)),
                (Unary::Abs, Const::Int(v)) => Some(Const::Int(v.abs())),
                (Unary::Abs, Const::Float(v)) => Some(Const::Float(v.abs())),
                (Unary::Not, Const::Bool(v)) => Some(Const::Bool(!v)),
                (Unary::Sqrt, Const::Float(v)) if self.cells.known(*num).is_some() => {
                    Some(Const::Float(v.sqrt()))
                }
                (Unary::Round(rounding), Const::Float(v)) => Some(Const::Float(rounding.of(*v))),
                _ => None,
            };
            if let Some(folded) = folded {
                let num = *num;
                if self.cells.literal_of(num) == Some(*value) {
                    self.cells.set_literal(num, folded);
                }
                if let (Const::Int(_), Some(dtype)) = (folded, self.cells.known(num))
                    && !dtype.is_signed()
                {
                    return self.refuse_dtype("negation", "signed integers and floats", num, loc);
                }
                return Some(self.settle_const(folded, num, loc));
            }
        }
        let x = self.value(&a, loc)?;
        if self.is_ptr(x) || self.is_handle(x) {
            let (what, actual) = (unary_name(op), self.describe(&Val::Value(x)));
            let headline = format!("{what} is not defined on {actual}");
            return self.refuse(Code::Kind.at(loc, headline));
        }
        let num = self.num(x);
        let (float, known) = (self.cells.is_float(num), self.cells.known(num));
        let (fine, wants) = match op {
            Unary::Neg => {
                (float || known.is_none_or(Dtype::is_signed), "signed integers and floats")
            }
            Unary::Not => (!float, "integers and `bool`"),
            Unary::Abs => (float || known.is_none_or(Dtype::is_int), "numbers"),
            Unary::Bits(_) => (!float && known != Some(Dtype::Bool), "integers"),
            Unary::Sqrt | Unary::Rsqrt | Unary::Round(_) | Unary::Transcendental(_) => {
                (float, "floats")
            }
        };
        if !fine && wants == "floats" && known.is_some_and(Dtype::is_int) {
            let name = self.cells.name(num);
            return self.refuse(
                Code::DtypeRefused
                    .at(loc, format!("{} is not defined on `{name}`", unary_name(op)))
                    .compare("element type", wants, format!("`{name}`"))
                    .why("the hardware has such functions of floats alone, and nothing converts by itself")
                    .help(self.applied(
                        x,
                        &format!(".cast::<f32>().{}()", unary_name(op).trim_matches('`')),
                    )),
            );
        }
        if !fine {
            let diagnostic = self.no_unary((op, x), wants, loc);
            return self.refuse(diagnostic);
        }
        if known == Some(Dtype::F64)
            && let Unary::Transcendental(function) = op
            && let Some(exact) = function.approximated()
        {
            let help = self.applied(x, &format!(".{}()", exact.name()));
            return self.no_double(function, Some(help), loc);
        }
        let shape = self.tile_shape(x);
        Some(Val::Value(self.emit_num(op, vec![x], shape, num, loc)))
    }

    /// Reports an approximation that the hardware does not have of `f64`.
    pub(crate) fn no_double<T>(
        &mut self,
        function: Transcendental,
        help: Option<String>,
        loc: Loc,
    ) -> Option<T> {
        self.refuse(
            Code::DtypeRefused
                .at(loc, format!("`{}` is not defined on `f64`", function.name()))
                .compare("element type", "`f16`, `bf16` or `f32`", "`f64`")
                .why("the hardware has no approximation of `f64`")
                .help_if(help),
        )
    }

    /// `a · b + c`, rounded once.
    pub(crate) fn fma(&mut self, operands: [&Val; 3], loc: Loc) -> Option<Val> {
        self.of_three(ElementwiseOp::Fma, "fma", operands, loc)
    }

    /// An operation on three operands of one type: floats for `fma`, integers for the others.
    pub(crate) fn of_three(
        &mut self,
        op: ElementwiseOp,
        name: &str,
        operands: [&Val; 3],
        loc: Loc,
    ) -> Option<Val> {
        let what = &format!("`{name}`");
        if self.refuse_unreckoned(what, &operands, loc) {
            return None;
        }
        let [a, b, c] = operands.map(|val| self.value(val, loc));
        let (a, b, c) = (a?, b?, c?);
        if !self.same_kind(&[a, b, c], what, loc) {
            return None;
        }
        if self.is_ptr(a) {
            return self.refuse(Code::Kind.at(loc, format!("{what} takes numbers, not addresses")));
        }
        let (a, b) = self.same_shape(a, b, what, loc)?;
        let (a, c) = self.same_shape(a, c, what, loc)?;
        let (b, _) = self.same_shape(b, c, what, loc)?;
        self.unify_values(a, b, what, loc)?;
        let num = self.third_operand(a, c, what, loc)?;
        let float = self.cells.is_float(num);
        let bool = self.cells.known(num) == Some(Dtype::Bool);
        if op == ElementwiseOp::Fma && !float {
            return self.refuse_dtype(what, "floats", num, loc);
        }
        if op != ElementwiseOp::Fma && (float || bool) {
            return self.refuse_dtype(what, "integers", num, loc);
        }
        let shape = self.tile_shape(a);
        Some(Val::Value(self.emit_num(op, vec![a, b, c], shape, num, loc)))
    }

    /// `mask ? a : b`
    pub(crate) fn select(&mut self, mask: &Val, [a, b]: [&Val; 2], loc: Loc) -> Option<Val> {
        const WHAT: &str = "`select`";
        if let Val::Const(Const::Bool(mask), _) = self.plain(mask.clone()) {
            return Some(self.plain(if mask { a } else { b }.clone()));
        }
        let [mask, a, b] = [mask, a, b].map(|val| self.value(val, loc));
        let (mask, a, b) = (mask?, a?, b?);
        if self.cells.known(self.num(mask)) != Some(Dtype::Bool) || self.is_ptr(mask) {
            let number = !self.is_ptr(mask) && !self.is_handle(mask);
            let zero = self.whole_number("0", self.num(mask));
            let help = number.then(|| self.applied(mask, &format!(".gt({zero})")));
            return self.refuse(
                Code::DtypeRefused
                    .at(loc, "`select` chooses by a mask")
                    .compare("mask", "`bool`", self.describe(&Val::Value(mask)))
                    .why("a number is not a truth value: a comparison makes a mask of numbers")
                    .help_if(help)
                    .of_operand(2, None),
            );
        }
        if !self.same_kind(&[a, b], WHAT, loc) {
            return None;
        }
        let (a, b) = self.same_shape(a, b, WHAT, loc)?;
        let (mask, a) = self.same_shape(mask, a, WHAT, loc)?;
        let (_, b) = self.same_shape(mask, b, WHAT, loc)?;
        let num = self.unify_values(a, b, WHAT, loc)?;
        let operands = vec![mask, a, b];
        if self.is_ptr(a) || self.is_ptr(b) {
            let ty = self.ty(a).clone();
            return Some(Val::Value(self.emit(ElementwiseOp::Select, operands, ty, loc)));
        }
        let shape = self.tile_shape(a);
        Some(Val::Value(self.emit_num(ElementwiseOp::Select, operands, shape, num, loc)))
    }

    /// Converts to another element type.
    pub(crate) fn cast(&mut self, a: &Val, to: Num, loc: Loc) -> Option<Val> {
        let a = self.plain(a.clone());
        let from = self.number_type(&a);
        let known = [from, self.cells.known(to)];
        if known[0] != known[1]
            && let Some(dtype) = known.into_iter().flatten().find(|dtype| dtype.is_opaque())
        {
            let power = match (&a, dtype) {
                (Val::Const(value, _), Dtype::Ue8m0) => exponent_bits(*value),
                _ => None,
            };
            let names = [from, self.cells.known(to)].map(|dtype| {
                dtype.map_or_else(|| "a number".to_owned(), |dtype| format!("`{}`", dtype.name()))
            });
            let diagnostic = no_conversion(&names, dtype, loc);
            let help = power.map(|bits| format!("ue8m0::from_bits({bits})"));
            return self.refuse(diagnostic.help_if(help));
        }
        if let (Val::Const(value, _), Some(dtype)) = (&a, self.cells.known(to)) {
            return Some(Val::Const(cast_const(*value, dtype), to));
        }
        let x = self.value(&a, loc)?;
        if self.is_ptr(x) || self.is_handle(x) {
            let actual = self.describe(&Val::Value(x));
            return self.refuse(Code::Kind.at(loc, format!("{actual} cannot be cast")));
        }
        if self.cells.known(to).is_some() && self.cells.known(self.num(x)) == self.cells.known(to) {
            self.unmark(&Val::Value(x));
            return Some(Val::Value(x));
        }
        let shape = self.tile_shape(x);
        Some(Val::Value(self.emit_num(ElementwiseOp::Cast, vec![x], shape, to, loc)))
    }
}

/// What is reported about arithmetic on what is only stored and moved, which is written as `written` if it has a name.
pub(crate) fn no_arithmetic(what: &str, dtype: Dtype, written: &str, loc: Loc) -> Diagnostic {
    let name = dtype.name();
    if dtype.is_opaque() {
        return Code::DtypeRefused
            .at(loc, format!("{what} is not defined on `{name}`"))
            .compare(
                "element type",
                "one with arithmetic: `f32`, `u8` and others",
                format!("`{name}`"),
            )
            .why(opaque(dtype))
            .why(format!("a tensor of `u8` instead of `{name}` gives the bits to compute with"));
    }
    Code::DtypeRefused.at(loc, format!("{what} is not defined on `{name}`"))
        .compare("element type", "one with arithmetic: `f32`, `f16` and others", format!("`{name}`"))
        .why("no instruction computes with FP8 numbers: they can be stored, converted and used as operands of products")
        .help(format!("{written}.cast::<f32>()"))
}

/// What is reported about conversions of what tensor cores alone read as numbers.
pub(crate) fn no_conversion([from, to]: &[String; 2], dtype: Dtype, loc: Loc) -> Diagnostic {
    let maker = if dtype.row().packing.is_some() { "from_f32" } else { "from_exponent" };
    let by = format!("`{}::{maker}` and `to_f32`", dtype.name());
    Code::DtypeRefused
        .at(loc, format!("{from} cannot be converted to {to}"))
        .compare("", "numbers, or `bool`, on both sides", format!("{from} and {to}"))
        .why(format!("{}; the host converts, by {by}", opaque(dtype)))
}

/// The bits of a power of two.
fn exponent_bits(value: Const) -> Option<u32> {
    #[expect(
        clippy::cast_precision_loss,
        reason = "what is rounded is not a power of two in range"
    )]
    let value = match value {
        Const::Int(value) => value as f64,
        Const::Float(value) => value,
        Const::Bool(_) => return None,
    };
    (0..255u32).find(|bits| 2f64.powi(bits.cast_signed() - 127).to_bits() == value.to_bits())
}

/// What tensor cores alone read as numbers.
fn opaque(dtype: Dtype) -> String {
    let what =
        dtype.row().packing.map_or("a power of two, by its exponent", |packing| packing.what);
    format!("`{}` is {what}, which only products of the tensor cores read", dtype.name())
}

/// Rust's `as`, on constants.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "the behaviour of `as` is required"
)]
pub(crate) fn cast_const(value: Const, dtype: Dtype) -> Const {
    let int = |v: i128| match int_range(dtype) {
        // Wraps, as `as` does between integers.
        Some((lo, hi)) => {
            let width = hi - lo + 1;
            let low = v.rem_euclid(width);
            Const::Int(if low > hi { low - width } else { low })
        }
        None if dtype == Dtype::Bool => Const::Bool(v != 0),
        None => Const::Float(round_float(v as f64, dtype)),
    };
    match value {
        Const::Bool(v) => int(i128::from(v)),
        Const::Int(v) => int(v),
        Const::Float(v) => match int_range(dtype) {
            Some((lo, hi)) => Const::Int((v as i128).clamp(lo, hi)),
            None if dtype == Dtype::Bool => Const::Bool(v != 0.0),
            None => Const::Float(round_float(v, dtype)),
        },
    }
}

/// An operator as a message names it.
pub(crate) fn symbol(op: Binary) -> &'static str {
    match op {
        Binary::Add => "`+`",
        Binary::Sub => "`-`",
        Binary::Mul => "`*`",
        Binary::Div => "`/`",
        Binary::Rem => "`%`",
        Binary::And => "`&`",
        Binary::Or => "`|`",
        Binary::Xor => "`^`",
        Binary::Shl => "`<<`",
        Binary::Shr => "`>>`",
        Binary::Min => "`minimum`",
        Binary::Max => "`maximum`",
        Binary::MulHi => "`mul_hi`",
        Binary::Copysign => "`copysign`",
        Binary::Powf => "`powf`",
    }
}

pub(super) fn unary_name(op: Unary) -> String {
    match op {
        Unary::Neg => "`-`".to_owned(),
        Unary::Not => "`!`".to_owned(),
        Unary::Abs
        | Unary::Sqrt
        | Unary::Rsqrt
        | Unary::Round(_)
        | Unary::Bits(_)
        | Unary::Transcendental(_) => format!("`{}`", op.name()),
    }
}
