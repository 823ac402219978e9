//! Tiles of rank 0: what a reduction of the only axis leaves, and the way from there to a scalar.
//!
//! The IR has a scalar for such a tile, since every thread holds its one element. Rust's types keep the two apart, so
//! the builder does as well: what `rustc` would refuse of a kernel's body is refused here first, with a fix.

use crate::{
    diag::{Code, Diagnostic},
    elaborate::{
        Builder, Env,
        language::value::{Num, Val},
        messages::advice::Advice,
    },
    ir::{Binary, Const, Dtype, Op, Value},
    loc::Loc,
    syntax::{Expr, Segment},
};

const ONE_VALUE: &str = "a reduction leaves a tile, of rank 0 when the only axis goes; `item` gives its one element as a scalar";

impl Builder<'_> {
    /// `x.item()`: the one element of a tile as the scalar that every thread has.
    pub(crate) fn item(&mut self, tile: Value, loc: Loc) -> Val {
        let shape = self.ty(tile).shape().to_vec();
        if shape.iter().any(|extent| *extent != 1) {
            let sums: String = shape.iter().map(|_| ".sum(0)").collect();
            let elements: u64 = shape.iter().map(|extent| u64::from(*extent)).product();
            return self.report(
                Diagnostic::new(Code::ShapeMismatch, loc, "`item` takes a tile of one element")
                    .compare("elements", "1", elements.to_string())
                    .why(format!(
                        "a scalar is one value for the whole block, and the tile has extents {shape:?}"
                    ))
                    .help(format!("{sums}.item()")),
            );
        }
        let mut tile = tile;
        for _ in &shape {
            let Val::Value(less) = self.reduce(tile, 0, loc, loc, &mut |_, a, _| Val::Value(a))
            else {
                return Val::Error;
            };
            tile = less;
        }
        let scalar = self.renamed(tile, loc);
        self.points.remove(scalar);
        Val::Value(scalar)
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
            return self.emit(Op::Binary(Binary::Add), vec![value, zero], ty, loc);
        }
        let num = self.num(value);
        self.emit_num(Op::Cast, vec![value], None, num, loc)
    }

    /// The diagnostic, and the way from a tile of rank 0 to a scalar where that is what is missing.
    pub(crate) fn help_item(&self, diagnostic: Diagnostic, val: &Val) -> Diagnostic {
        match self.plain(val.clone()) {
            Val::Value(value) if self.is_point(value) => diagnostic.why(ONE_VALUE).help(".item()"),
            _ => diagnostic,
        }
    }

    /// Methods that are not those of every tile: there is no axis.
    pub(crate) fn point_method(
        &mut self,
        point: Value,
        name: &Segment,
        vals: &[Val],
        args: &[Expr],
        loc: Loc,
    ) -> Option<Val> {
        Some(match (name.name.as_str(), vals) {
            ("expand", [axis]) => {
                if self.axis(axis, 1, "the wider tile", args[0].loc).is_none() {
                    return Some(Val::Error);
                }
                Val::Value(self.splat(point, &[1], loc))
            }
            ("broadcast" | "reshape", [shape]) => {
                let Some(shape) = self.shape(shape, &args[0]) else { return Some(Val::Error) };
                if name.name == "reshape" && shape.iter().any(|extent| *extent != 1) {
                    return Some(self.reshape(point, shape, loc));
                }
                let num = self.num(point);
                if self.check_budget(&shape, num, loc).is_none() {
                    return Some(Val::Error);
                }
                Val::Value(self.splat(point, &shape, loc))
            }
            ("sum" | "max" | "min" | "dim", [_]) | ("reduce", [_, _]) => {
                let diagnostic =
                    Diagnostic::new(Code::Axis, loc, "a tile of rank 0 has no axis left")
                        .compare("rank", "1 to 5", "0");
                let diagnostic = match name.name.as_str() {
                    "max" => diagnostic.help("maximum(a, b)"),
                    "min" => diagnostic.help("minimum(a, b)"),
                    _ => diagnostic
                        .why("the only axis was reduced before: this is one element already"),
                };
                self.report(diagnostic)
            }
            ("t", []) | ("to_layout", [_]) => {
                let what = if name.name == "t" {
                    "`t` swaps the two axes of a tile"
                } else {
                    "a layout spreads the axes of a tile over threads"
                };
                let required = if name.name == "t" { "2" } else { "1 to 5" };
                self.report(
                    Diagnostic::new(Code::Axis, loc, what)
                        .compare("rank", required, "0")
                        .why("every thread has the one element of a tile of rank 0"),
                )
            }
            _ => return None,
        })
    }

    /// A value where a scalar is wanted, for which a tile of rank 0 will not do.
    pub(crate) fn wants_scalar(&mut self, value: Value, what: &str, loc: Loc) -> Option<()> {
        if !self.is_point(value) {
            return Some(());
        }
        let val = Val::Value(value);
        let actual = self.describe(&val);
        let diagnostic = Diagnostic::new(Code::Kind, loc, what).compare("", "a scalar", actual);
        let diagnostic = self.help_item(diagnostic, &val);
        self.report(diagnostic);
        None
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
        if !self.is_point(value) {
            return Some(());
        }
        let Some(place) = self.place(target, env) else { return Some(()) };
        match self.read(&place) {
            Val::Const(..) => {}
            Val::Value(old) if self.is_scalar(old) => {}
            _ => return Some(()),
        }
        self.wants_scalar(value, "a scalar variable does not become a tile", loc)
    }

    /// How a method of tiles is said of a scalar.
    pub(crate) fn said_of_scalar(&self, val: &Val, name: &str) -> Option<Advice> {
        match val {
            Val::Const(..) => {}
            Val::Value(value) if self.is_scalar(*value) => {}
            _ => return None,
        }
        Some(match name {
            "lt" => ("", "a < b"),
            "le" => ("", "a <= b"),
            "gt" => ("", "a > b"),
            "ge" => ("", "a >= b"),
            "eq" => ("", "a == b"),
            "ne" => ("", "a != b"),
            "expand" => ("", "full([1], x)"),
            "reshape" | "broadcast" => ("", "full([64], x)"),
            "item" => ("this is a scalar already", ""),
            _ => return None,
        })
    }
}
