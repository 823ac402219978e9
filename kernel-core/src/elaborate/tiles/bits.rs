//! Functions of the bits of numbers.

use crate::{
    diag::{Code, Diagnostic},
    elaborate::{
        Builder,
        language::value::{Num, Val},
        signatures::Given,
        tiles::arith::cast_const,
    },
    ir::{Binary, BitFunction, Const, Dtype, ElementwiseOp, Funnel, Unary, dtype::Class},
    loc::Loc,
};

/// Which bits of an integer are counted.
#[derive(Clone, Copy)]
pub(crate) struct Counted {
    /// Whether the zeros of the other functions are ones here, and the ones zeros.
    inverted: bool,
    /// Whether the count begins at the lowest bit.
    reversed: bool,
    function: BitFunction,
}

impl Counted {
    pub(crate) const ONES: Counted =
        Counted { inverted: false, reversed: false, function: BitFunction::CountOnes };
    pub(crate) const ZEROS: Counted = Counted { inverted: true, ..Counted::ONES };
    pub(crate) const LEADING_ZEROS: Counted =
        Counted { inverted: false, reversed: false, function: BitFunction::LeadingZeros };
    pub(crate) const LEADING_ONES: Counted = Counted { inverted: true, ..Counted::LEADING_ZEROS };
    pub(crate) const TRAILING_ZEROS: Counted = Counted { reversed: true, ..Counted::LEADING_ZEROS };
    pub(crate) const TRAILING_ONES: Counted =
        Counted { reversed: true, inverted: true, ..Counted::LEADING_ZEROS };

    /// The count in the bits that a type has.
    fn of(self, value: i128, dtype: Dtype) -> i128 {
        let width = 8 * dtype.bytes();
        let value = if self.inverted { !value } else { value };
        let low = value & ((1 << width) - 1);
        i128::from(match (self.function, self.reversed) {
            (BitFunction::LeadingZeros, true) => low.trailing_zeros().min(width),
            (BitFunction::LeadingZeros, false) => low.leading_zeros() - (i128::BITS - width),
            (BitFunction::CountOnes | BitFunction::ReverseBits, _) => low.count_ones(),
        })
    }
}

impl Builder<'_> {
    /// The element type of what a function of bits is called on.
    pub(crate) fn of_integers(&mut self, of: &Val, given: &Given<'_>) -> Option<Num> {
        let what = format!("`{}`", given.path());
        if self.refuse_unreckoned(&what, &[of], given.loc) {
            return None;
        }
        let num = self.num_of(of)?;
        let address = of.value().is_some_and(|value| self.is_ptr(value));
        let bool = self.cells.known(num) == Some(Dtype::Bool);
        if address || bool || self.cells.is_float(num) {
            let bits = match self.cells.known(num) {
                Some(Dtype::F32) => Some("u32"),
                Some(Dtype::F64) => Some("u64"),
                Some(Dtype::F16 | Dtype::Bf16) => Some("u16"),
                Some(_) | None => None,
            };
            let help =
                of.value().zip(bits.filter(|_| given.args.is_empty())).map(|(value, bits)| {
                    self.applied(value, &format!(".bitcast::<{bits}>().{}()", given.path()))
                });
            let name = self.cells.name(num);
            return self.refuse(
                Code::DtypeRefused
                    .at(given.loc, format!("{what} is not defined on `{name}`"))
                    .compare("element type", "integers", format!("`{name}`"))
                    .help_if(help),
            );
        }
        Some(num)
    }

    /// `x.count_ones()` and the like: an `u32`, as in Rust.
    pub(crate) fn counted(&mut self, counted: Counted, given: &Given<'_>) -> Option<Val> {
        let num = self.of_integers(&given.of, given)?;
        let result = Num::Known(Dtype::U32);
        if let Val::Const(Const::Int(value), _) = given.of {
            let dtype = self.cells.known(num).unwrap_or(Dtype::I32);
            self.cells.forget_literal(num);
            return Some(Val::Const(Const::Int(counted.of(value, dtype)), result));
        }
        let mut of = given.of.clone();
        if counted.inverted {
            of = self.unary(Unary::Not, &of, given.loc)?;
        }
        if counted.reversed {
            of = self.unary(BitFunction::ReverseBits.into(), &of, given.loc)?;
        }
        let count = self.unary(counted.function.into(), &of, given.loc)?;
        self.cast(&count, result, given.loc)
    }

    /// `x.reverse_bits()`
    pub(crate) fn reverse_bits(&mut self, given: &Given<'_>) -> Option<Val> {
        self.of_integers(&given.of, given)?;
        self.elementwise(BitFunction::ReverseBits, given)
    }

    /// `x.rotate_left(n)`, `x.rotate_right(n)`
    pub(crate) fn rotate(&mut self, side: Funnel, given: &Given<'_>) -> Option<Val> {
        let num = self.of_integers(&given.of, given)?;
        self.of_integers(given.val(0), given)?;
        let amount = self.cast(given.val(0), num, given.loc)?;
        let name = given.path();
        let operands = [&given.of, &given.of, &amount];
        self.of_three(ElementwiseOp::FunnelShift(side), &name, operands, given.loc)
    }

    /// `high.funnel_shl(low, n)`, `high.funnel_shr(low, n)`
    pub(crate) fn funnel_shift(&mut self, side: Funnel, given: &Given<'_>) -> Option<Val> {
        let num = self.of_integers(&given.of, given)?;
        self.of_integers(given.val(1), given)?;
        let low = self.num_of(given.val(0))?;
        if self.cells.unify(low, num).is_err() {
            let headline = format!("`{}` takes two words of one type", side.name());
            let [required, actual] = [num, low].map(|num| self.cells.name(num));
            let written = given.args[0].operand_text();
            let help = written.map(|low| format!("{low}.cast::<{required}>()"));
            return self.refuse(
                Code::DtypeMismatch
                    .at(given.at(0), headline)
                    .compare("low word", format!("`{required}`"), format!("`{actual}`"))
                    .help_if(help),
            );
        }
        let amount = self.cast(given.val(1), num, given.loc)?;
        let operands = [&given.of, given.val(0), &amount];
        self.of_three(ElementwiseOp::FunnelShift(side), side.name(), operands, given.loc)
    }

    /// `x.wrapping_add(y)` and the like: what the operators do, of constants too.
    pub(crate) fn wrapping(
        &mut self,
        op: Binary,
        of_constants: fn(i128, i128) -> i128,
        given: &Given<'_>,
    ) -> Option<Val> {
        self.of_integers(&given.of, given)?;
        let other = given.val(0);
        if let (&Val::Const(Const::Int(a), p), &Val::Const(Const::Int(b), q)) = (&given.of, other) {
            let num = self.unify(p, q, &format!("`{}`", given.path()), given.loc)?;
            // Of 64 bits each, the low 128 bits have the low bits of the exact result.
            let exact = of_constants(a, b);
            self.cells.forget_literal(num);
            let dtype = self.cells.known(num).unwrap_or(Dtype::I32);
            let num = Num::Known(dtype);
            return Some(Val::Const(cast_const(Const::Int(exact), dtype), num));
        }
        Some(self.binary(op, &given.of, other, given.loc))
    }

    /// `x.to_bits()`
    pub(crate) fn bits_of_float(&mut self, given: &Given<'_>) -> Option<Val> {
        let what = "`to_bits`";
        let num = self.num_of(&given.of)?;
        if self.cells.known(num).is_none() {
            // A literal with a fraction is an `f32` where nothing else says what it is.
            let _ = self.cells.unify(num, Num::Known(Dtype::F32));
        }
        let to = match self.cells.known(num).map(|dtype| (dtype.class(), dtype.bytes())) {
            Some((Class::Float(_) | Class::Float8(_) | Class::Opaque, bytes)) => match bytes {
                1 => Dtype::U8,
                2 => Dtype::U16,
                4 => Dtype::U32,
                _ => Dtype::U64,
            },
            Some((Class::Bool | Class::Signed | Class::Unsigned, _)) | None => {
                return self.refuse_dtype(what, "floats", num, given.loc);
            }
        };
        self.bitcast(&given.of, Num::Known(to), given.loc)
    }

    /// `x.bitcast::<T>()`
    pub(crate) fn bitcast_to(&mut self, given: &Given<'_>) -> Option<Val> {
        let to = self.other_type(given)?;
        self.bitcast(&given.of, to, given.loc)
    }

    /// The bits of a number read as another type. What is not known yet is held against the other type at the end.
    pub(crate) fn bitcast(&mut self, of: &Val, to: Num, loc: Loc) -> Option<Val> {
        let value = self.value(of, loc)?;
        if self.is_ptr(value) || self.is_handle(value) {
            let actual = self.describe(&Val::Value(value));
            return self.refuse(
                Code::Kind
                    .at(loc, "`bitcast` reads the bits of numbers")
                    .compare("", "numbers", actual),
            );
        }
        if let (Some(from), Some(to)) = (self.cells.known(self.num(value)), self.cells.known(to))
            && !from.has_bits_of(to)
        {
            let help =
                (from == Dtype::Bool).then(|| self.applied(value, &format!(".cast::<{to}>()")));
            return self.refuse(no_bitcast(from, to, loc).help_if(help));
        }
        let shape = self.tile_shape(value);
        Some(Val::Value(self.emit_num(ElementwiseOp::Bitcast, vec![value], shape, to, loc)))
    }
}

/// What is reported about a type that does not have the bits of another one.
pub(crate) fn no_bitcast(from: Dtype, to: Dtype, loc: Loc) -> Diagnostic {
    let (from_bits, to_bits) = (8 * from.bytes(), 8 * to.bytes());
    let why = if from == Dtype::Bool || to == Dtype::Bool {
        "a `bool` is a predicate in a kernel, and has no bits; `cast` makes 0 or 1 of it, and a comparison makes a `bool` of a number"
    } else {
        "no bit is added or left out: `cast` converts the value instead"
    };
    let diagnostic =
        Code::DtypeRefused.at(loc, format!("`bitcast` does not read `{from}` as `{to}`")).compare(
            "element type",
            if from == Dtype::Bool { "a number".to_owned() } else { same_bits(from) },
            format!("`{}`", if from == Dtype::Bool { from } else { to }),
        );
    let note = if from_bits == to_bits {
        why.to_owned()
    } else {
        format!("`{from}` has {from_bits} bits and `{to}` has {to_bits}; {why}")
    };
    diagnostic.why(note)
}

/// The types that have the bits of one.
fn same_bits(dtype: Dtype) -> String {
    let names: Vec<String> = Dtype::ALL
        .iter()
        .filter(|other| dtype.has_bits_of(**other) && **other != dtype)
        .map(|other| format!("`{other}`"))
        .collect();
    names.join(", ")
}
