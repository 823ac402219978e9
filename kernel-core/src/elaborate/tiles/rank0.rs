//! Tiles of rank 0: the result of reducing the only axis, and its conversion to a scalar.
//!
//! The IR has a scalar for such a tile, since every thread holds its one element. Rust's types keep the two apart, so
//! the builder does as well: what `rustc` would refuse is refused here first, with a fix.

use super::along::Purpose;
use crate::{
    diag::{Code, Diagnostic},
    elaborate::{
        Builder, Env,
        language::value::{Num, Place, Val},
        messages::advice::Advice,
        signatures::Given,
    },
    ir::{Binary, Const, Dtype, Elem, ElementwiseOp, Type, Value},
    loc::Loc,
    syntax::Expr,
};

const ONE_VALUE: &str = "a reduction leaves a tile, of rank 0 when the only axis goes; `item` gives its one element as a scalar";
const ONE_ELEMENT: &str = "a tile of one element is a tile all the same: `item` gives the element as a scalar, which every thread has";

impl Builder<'_> {
    /// `x.item()`: the one element of a tile as the scalar that every thread has.
    pub(crate) fn item(&mut self, given: &Given<'_>) -> Option<Val> {
        let (mut tile, loc) = (given.receiver(), given.loc);
        let pointer = self.ty(tile).elem().filter(|elem| matches!(elem, Elem::Ptr(_)));
        let shape = self.ty(tile).shape().to_vec();
        if shape.iter().any(|extent| *extent != 1) {
            let sums: String = shape.iter().map(|_| ".sum(0)").collect();
            let elements: u64 = shape.iter().map(|extent| u64::from(*extent)).product();
            return self.refuse(
                Code::ShapeMismatch.at(loc, "`item` takes a tile of one element")
                    .compare("elements", "1", elements)
                    .why(format!(
                        "a scalar is one value for the whole block, and the tile has extents {shape:?}"
                    ))
                    .help(format!("{sums}.item()")),
            );
        }
        if pointer.is_some() {
            tile = self.bits_as(Elem::Number(Dtype::U64), tile, loc);
        }
        for _ in &shape {
            let first = &mut |_: &mut Self, a, _| Val::Value(a);
            let Val::Value(less) = self.along(Purpose::Reduction, (tile, 0), (loc, loc), first)
            else {
                return None;
            };
            tile = less;
        }
        let scalar = self.renamed(tile, loc);
        self.points.remove(scalar);
        Some(Val::Value(match pointer {
            Some(elem) => self.bits_as(elem, scalar, loc),
            None => scalar,
        }))
    }

    /// A scalar as a tile of rank 0.
    pub(crate) fn as_point(&mut self, scalar: Value, loc: Loc) -> Val {
        let point = self.renamed(scalar, loc);
        self.points.insert(point, ());
        Val::Value(point)
    }

    /// The same value under a name of its own.
    fn renamed(&mut self, value: Value, loc: Loc) -> Value {
        if self.is_ptr(value) {
            let zero = self.constant(Const::Int(0), Num::Known(Dtype::I32), loc);
            let ty = self.ty(value).clone();
            return self.emit(Binary::Add, vec![value, zero], ty, loc);
        }
        let num = self.num(value);
        self.emit_num(ElementwiseOp::Cast, vec![value], None, num, loc)
    }

    /// The diagnostic, and the conversion from a tile of rank 0 to a scalar if that is what is missing.
    pub(crate) fn help_item(&self, diagnostic: Diagnostic, val: &Val) -> Diagnostic {
        let val = self.plain(val.clone());
        if !val.value().is_some_and(|value| self.is_point(value)) {
            return diagnostic;
        }
        diagnostic.why(ONE_VALUE).help(".item()")
    }

    /// Reports an axis of a tile of rank 0.
    pub(crate) fn no_axis_left<T>(&mut self, given: &Given<'_>) -> Option<T> {
        let headline = "a tile of rank 0 has no axis left";
        let diagnostic = Code::Axis.at(given.loc, headline).compare("rank", "1 to 5", "0");
        self.refuse(match given.signature.name {
            "max" => diagnostic.help("maximum(a, b)"),
            "min" => diagnostic.help("minimum(a, b)"),
            _ => diagnostic.why("the only axis is already reduced: this is one element"),
        })
    }

    /// Reports what a tile of rank 0 has no axes for.
    pub(crate) fn no_axes<T>(&mut self, headline: &str, required: &str, loc: Loc) -> Option<T> {
        self.refuse(
            Code::Axis
                .at(loc, headline)
                .compare("rank", required, "0")
                .why("every thread has the one element of a tile of rank 0"),
        )
    }

    /// A tile of rank 0 in every element of one with axes.
    pub(crate) fn point_over(&mut self, point: Value, shape: &[u32], loc: Loc) -> Option<Val> {
        let num = self.num(point);
        self.check_budget(shape, num, loc)?;
        Some(Val::Value(self.splat(point, shape, loc)))
    }

    /// Whether a value is a tile of one element: of rank 0, or with extents of 1 alone.
    pub(crate) fn has_one_element(&self, value: Value) -> bool {
        let ones = |shape: &[u32]| shape.iter().all(|extent| *extent == 1);
        self.is_point(value)
            || matches!(self.ty(value), Type::Tile(Elem::Number(_), shape) if ones(shape))
    }

    /// A value that has to be a scalar, for which a tile of one element will not do.
    pub(crate) fn wants_scalar(&mut self, value: Value, what: &str, loc: Loc) -> Option<()> {
        self.wants_scalar_of(None, value, what, loc)
    }

    /// The same of a scalar of an element type.
    pub(crate) fn wants_scalar_of(
        &mut self,
        dtype: Option<Dtype>,
        value: Value,
        what: &str,
        loc: Loc,
    ) -> Option<()> {
        let diagnostic = self.no_scalar(dtype, value, what, loc);
        diagnostic.map_or(Some(()), |diagnostic| self.refuse(diagnostic))
    }

    /// The message about a tile of one element where a scalar is required; none of what is no such tile.
    pub(crate) fn no_scalar(
        &self,
        dtype: Option<Dtype>,
        value: Value,
        what: &str,
        loc: Loc,
    ) -> Option<Diagnostic> {
        if !self.has_one_element(value) {
            return None;
        }
        let actual = self.describe(&Val::Value(value));
        let point = self.is_point(value);
        let required = match dtype {
            Some(dtype) if !point => format!("a scalar ({})", dtype.name()),
            Some(_) | None => "a scalar".to_owned(),
        };
        let known = self.cells.known(self.num(value));
        let other = dtype.filter(|dtype| known.is_some_and(|known| known != *dtype));
        let help = match other {
            Some(Dtype::Bool) => ".item() != 0".to_owned(),
            Some(to) if matches!(to, Dtype::F32 | Dtype::F64) || to.is_int() => {
                format!(".item() as {}", to.name())
            }
            Some(to) => format!(".item().cast::<{}>()", to.name()),
            None => ".item()".to_owned(),
        };
        let why = if point { ONE_VALUE } else { ONE_ELEMENT };
        Some(Code::Kind.at(loc, what).compare("", required, actual).why(why).help(help))
    }

    /// Whether a value may replace a variable: not a tile of rank 0 a scalar.
    pub(crate) fn check_assigned(
        &mut self,
        target: &Expr,
        val: &Val,
        env: Env,
        loc: Loc,
    ) -> Option<()> {
        let Val::Value(value) = self.plain(val.clone()) else { return Some(()) };
        let is_tile = matches!(self.ty(value), Type::Tile(Elem::Number(_), _));
        if !self.is_point(value) && !is_tile {
            return Some(());
        }
        let Some(place) = self.place(target, env) else { return Some(()) };
        if self.scopes.spoiled.contains(&place.var) {
            return None;
        }
        let old = self.read(&place);
        if !self.is_number(&old) {
            return Some(());
        }
        if is_tile {
            return self.stays_scalar(&place, &old, value, loc);
        }
        self.wants_scalar(value, "a scalar variable does not become a tile", loc)
    }

    /// Reports a tile that is assigned to a scalar variable, or added to one.
    fn stays_scalar(&mut self, place: &Place, old: &Val, tile: Value, loc: Loc) -> Option<()> {
        let var = &self.scopes.vars[place.var.0 as usize];
        let (name, first) = (var.name.to_string(), var.first.clone());
        let shape = self.ty(tile).shape().to_vec();
        let dtype = self.cells.settled(self.num(tile));
        let fill = match &first {
            Some(_) if matches!(old, Val::Const(Const::Int(_), _)) => {
                Some(self.full_of(&shape, old, dtype))
            }
            Some((_, text)) => Some(format!("full({shape:?}, {text})")),
            None => None,
        };
        let first = first.map(|(loc, _)| loc);
        let (required, actual) = (self.describe(old), self.describe(&Val::Value(tile)));
        let diagnostic = Code::Kind
            .at(loc, format!("`{name}` is a scalar, and this is a tile"))
            .compare("", required, actual)
            .place_if(first, "the first value makes it a scalar")
            .why("a variable keeps its type and its extents: its first value sets both")
            .help_if(fill);
        // What the variable holds from here on is not known.
        self.scopes.spoiled.insert(place.var);
        self.refuse(diagnostic)
    }

    /// How a method of tiles is said of a scalar.
    pub(crate) fn said_of_scalar(&self, val: &Val, name: &str) -> Option<Advice> {
        if !self.is_const_or_scalar(val) {
            return None;
        }
        let float = self.num_of(val).is_some_and(|num| self.cells.is_float(num));
        Some(match name {
            "signum" | "sign" if !float => ("", "if x < 0 { -1 } else { x.min(1) }"),
            "lt" => ("", "a < b"),
            "le" => ("", "a <= b"),
            "gt" => ("", "a > b"),
            "ge" => ("", "a >= b"),
            "eq" => ("", "a == b"),
            "ne" => ("", "a != b"),
            "expand" => ("", "full([1], x)"),
            "reshape" | "broadcast" => ("", "full([64], x)"),
            "item" => ("this is a scalar already", "x"),
            _ => return crate::elaborate::messages::advice::of_number(name),
        })
    }
}
