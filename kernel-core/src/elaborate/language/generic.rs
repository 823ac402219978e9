//! Values whose element type is a type parameter of the kernel, `T`.
//!
//! An instance knows what `T` stands for, and `rustc` does not: to it `x * 2.0` is wrong for every `T`, although one of the
//! listed types is `f32`. So the builder remembers which values are of type `T`, and asks for `T::of(2.0)` itself.
//!
//! Only marked values are refused, so a mark goes when in doubt. A function may belong to an `impl` for one
//! type, where `T` has another name: arguments and results of calls are not marked.

use la_arena::ArenaMap;

use super::value::{Num, Val};
use crate::{
    diag::Code,
    elaborate::{Builder, messages::in_place, tiles::arith},
    ir::{Const, Dtype, Elem, ElementwiseOp, MemoryOp, Op, TileOp, Type, Value},
    loc::Loc,
    syntax::{Function, GenericKind, TypeExpr},
};

/// What is known of a kernel's own type parameters.
#[derive(Debug, Default)]
pub(crate) struct TypeParams {
    /// Their names, and how a literal becomes one of them.
    names: Vec<(String, Literals)>,
    /// For each parameter of the kernel the type parameter that its elements are of.
    of_param: Vec<Option<usize>>,
    /// The values of such a type.
    of_value: ArenaMap<Value, usize>,
}

/// How a literal becomes a value of a type parameter, which its bounds say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Literals {
    /// `T::of(2.0)`
    Of,
    /// `2.cast::<T>()`
    Cast,
    /// Not at all: it may be `bool`.
    Never,
}

impl TypeParams {
    pub(crate) fn new(function: &Function) -> TypeParams {
        let names = function.generics.iter().filter_map(|param| match &param.kind {
            GenericKind::Type(bounds) => Some((param.name.name.clone(), literals(bounds))),
            GenericKind::Const(_) => None,
        });
        TypeParams { names: names.collect(), of_param: Vec::new(), of_value: ArenaMap::new() }
    }

    /// Remembers the type of the kernel's next parameter; none if it may name other generic parameters.
    pub(crate) fn add_param(&mut self, ty: Option<&TypeExpr>) {
        let of = ty.and_then(|ty| {
            let of = ty.last().and_then(|last| last.args.first()?.ty()).unwrap_or(ty);
            let name = &of.path()?.only()?.name;
            self.names.iter().position(|(param, _)| param == name)
        });
        self.of_param.push(of);
    }
}

fn literals(bounds: &[String]) -> Literals {
    let has = |name: &str| bounds.iter().any(|bound| bound == name);
    if has("Int") || has("Number") && !has("Float") || has("Cast") {
        Literals::Cast
    } else if bounds.iter().all(|bound| matches!(bound.as_str(), "Scalar" | "Bits" | "Operand")) {
        Literals::Never
    } else {
        // `Float`, or a trait of the user's that asks for it.
        Literals::Of
    }
}

/// Whether the elements of a result are those of an operand.
fn keeps_elements(op: &Op) -> bool {
    matches!(
        op,
        Op::Tile(
            TileOp::Splat
                | TileOp::Broadcast
                | TileOp::Expand(_)
                | TileOp::Reshape
                | TileOp::Permute(_)
        ) | Op::Elementwise(
            ElementwiseOp::Unary(_)
                | ElementwiseOp::Binary(_)
                | ElementwiseOp::Select
                | ElementwiseOp::Fma
                | ElementwiseOp::FunnelShift(_)
        ) | Op::Memory(MemoryOp::LoadPtr { .. })
    )
}

impl Builder<'_> {
    /// Marks what a parameter of the kernel gives, or what was loaded from it.
    pub(crate) fn mark_of_param(&mut self, param: u32, value: Value) {
        if self.calls.is_empty()
            && let Some(Some(index)) = self.type_params.of_param.get(param as usize)
        {
            self.type_params.of_value.insert(value, *index);
        }
    }

    /// Marks the result of an operation on marked values.
    pub(crate) fn mark_result(&mut self, op: &Op, args: &[Value], result: Value) {
        if !self.calls.is_empty() || !keeps_elements(op) {
            return;
        }
        let element = |value: Value| match self.ty(value).elem()? {
            Elem::Number(dtype) | Elem::Ptr(dtype) => Some(dtype),
        };
        let marked = args.iter().find_map(|arg| {
            let index = *self.type_params.of_value.get(*arg)?;
            (element(*arg) == element(result)).then_some(index)
        });
        if let Some(index) = marked {
            self.type_params.of_value.insert(result, index);
        }
    }

    /// A value that another one becomes is marked as that one is.
    pub(crate) fn mark_like(&mut self, other: Value, value: Value) {
        if let Some(index) = self.type_params.of_value.get(other).copied() {
            self.type_params.of_value.insert(value, index);
        }
    }

    /// From here on the value may be of a type with a name of its own.
    pub(crate) fn unmark(&mut self, val: &Val) {
        if self.type_params.names.is_empty() {
            return;
        }
        for value in self.plain(val.clone()).leaves().into_iter().filter_map(Val::value) {
            self.type_params.of_value.remove(value);
        }
    }

    /// Makes the element types of two values one, or reports.
    pub(crate) fn unify_values(&mut self, a: Value, b: Value, what: &str, loc: Loc) -> Option<Num> {
        let [a, b] = [a, b].map(|value| (Some(value), self.num(value)));
        self.unify_operands(a, b, what, loc)
    }

    /// The same for operands that need not be values yet, with their element types.
    pub(crate) fn unify_operands(
        &mut self,
        (a, x): (Option<Value>, Num),
        (b, y): (Option<Value>, Num),
        what: &str,
        loc: Loc,
    ) -> Option<Num> {
        let found = self
            .literal_beside(a, y, Side::Right)
            .or_else(|| self.literal_beside(b, x, Side::Left));
        let Some((side, actual, why, help)) = found else { return self.unify(x, y, what, loc) };
        let operand = match side {
            Side::Left => 0,
            Side::Right => 1,
        };
        let diagnostic = Code::DtypeMismatch
            .at(loc, format!("the operands of {what} have different element types"))
            .compare("", "one element type on both sides", actual)
            .why(why);
        self.refuse(diagnostic.help_if(help).of_operand(operand, None))
    }

    /// Reports a tile and a scalar of different element types: the scalar converts, which costs nothing, unless it is a fraction or a
    /// wider number beside integers.
    pub(crate) fn scalar_as_tile(
        &mut self,
        a: Value,
        b: Value,
        what: &str,
        loc: Loc,
    ) -> Option<()> {
        let (tile, scalar) = match [a, b].map(|value| self.is_scalar(value)) {
            [false, true] => (a, 1),
            [true, false] => (b, 0),
            [true, true] | [false, false] => return Some(()),
        };
        if !matches!(self.ty(tile), Type::Tile(Elem::Number(_), _)) {
            return Some(());
        }
        let [Some(x), Some(y)] = [a, b].map(|value| self.cells.known(self.num(value))) else {
            return Some(());
        };
        let (of_tile, of_scalar) = if scalar == 1 { (x, y) } else { (y, x) };
        // An index of 64 bits has no room in one of 32, and a fraction none in an integer.
        let fraction =
            of_tile.is_int() && (of_scalar.is_float() || of_scalar.bytes() > of_tile.bytes());
        let (operand, to) = if fraction { (1 - scalar, of_scalar) } else { (scalar, of_tile) };
        let converts = |dtype: Dtype| dtype != Dtype::Bool && !dtype.is_opaque();
        if x == y || !converts(x) || !converts(y) {
            return Some(());
        }
        self.refuse(
            Code::DtypeMismatch
                .at(loc, format!("the operands of {what} have different element types"))
                .compare(
                    "",
                    "one element type on both sides",
                    format!("{} and {}", x.name(), y.name()),
                )
                .why(arith::no_promotion(x, y))
                .help(if fraction || to.is_half() || to.is_float8() {
                    format!(".cast::<{}>()", to.name())
                } else {
                    in_place::converted_to(to)
                })
                .of_operand(operand, None),
        )
    }

    /// The type parameter of a value, and the words, if a literal stands beside it.
    pub(crate) fn literal_beside(
        &self,
        value: Option<Value>,
        literal: Num,
        side: Side,
    ) -> Option<(Side, String, String, Option<String>)> {
        let index = *self.type_params.of_value.get(value?)?;
        let (name, kind, why, help) = self.literal_for(index, literal)?;
        let actual = match side {
            Side::Left => format!("{kind} and {name}"),
            Side::Right => format!("{name} and {kind}"),
        };
        Some((side, actual, why, help))
    }

    /// Reports a literal that is stored where values of a type parameter are: in a parameter of the kernel, or at an address.
    pub(crate) fn stores_literal(
        &mut self,
        into: Destination,
        value: Value,
        headline: &str,
        loc: Loc,
    ) -> bool {
        let index = match into {
            Destination::Param(param) => {
                self.type_params.of_param.get(param as usize).copied().flatten()
            }
            Destination::Address(at) => self.type_params.of_value.get(at).copied(),
        };
        let found =
            index.and_then(|index| Some((index, self.literal_for(index, self.num(value))?)));
        let Some((index, (name, kind, why, help))) = found else { return false };
        let diagnostic = Code::DtypeMismatch.at(loc, headline).compare("", &name, kind).why(why);
        // Of what literals became, none can be written in its place.
        let casts = self.type_params.names[index].1 != Literals::Never;
        let help = help.or_else(|| casts.then(|| format!(".cast::<{name}>()")));
        self.report(diagnostic.help_if(help));
        true
    }

    /// The name of a type parameter, what stands in the place of a value of it, and the words, if that is a literal.
    fn literal_for(
        &self,
        index: usize,
        literal: Num,
    ) -> Option<(String, String, String, Option<String>)> {
        if !self.calls.is_empty() || !self.cells.is_of_literal(literal) {
            return None;
        }
        let (name, literals) = &self.type_params.names[index];
        let written = self.cells.literal_of(literal);
        let why = "a type parameter has no literals, because it stands for several types";
        #[expect(clippy::cast_precision_loss, reason = "it is shown as Rust shows floats")]
        let (why, help) = match (literals, written) {
            (Literals::Of, written) => (
                format!("{why}; `{name}::of` makes one at compile time"),
                match written {
                    Some(Const::Int(value)) => Some(format!("{name}::of({:?})", value as f64)),
                    Some(Const::Float(value)) => Some(format!("{name}::of({value:?})")),
                    Some(Const::Bool(_)) | None => None,
                },
            ),
            (Literals::Cast, Some(Const::Int(value))) => {
                (why.to_owned(), Some(format!("{value}.cast::<{name}>()")))
            }
            (Literals::Cast, Some(Const::Float(value))) => (
                format!("{why}; a float literal needs a parameter whose types are all floats"),
                Some(format!("`{name}: Float`, and `{name}::of({value:?})`")),
            ),
            (Literals::Cast | Literals::Never, _) => (why.to_owned(), None),
        };
        Some((name.clone(), self.cells.name(literal), why, help))
    }
}

/// What is stored to.
#[derive(Clone, Copy)]
pub(crate) enum Destination {
    /// A tensor, by the number of the kernel's parameter.
    Param(u32),
    /// One address or a tile of them.
    Address(Value),
}

/// Where a literal stands.
#[derive(Clone, Copy)]
pub(crate) enum Side {
    Left,
    Right,
}
