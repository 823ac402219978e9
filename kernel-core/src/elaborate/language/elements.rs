//! Elements by index: of arrays, of rings of shared windows, of barriers.

use super::value::{Class, Num, Val};
use crate::{
    diag::Code,
    elaborate::{Builder, Env},
    ir::{Const, Dtype, Type, Value, WindowOp},
    loc::Loc,
    syntax::{Expr, ExprKind},
};

/// How the elements of a tensor are named.
pub(crate) const A_WINDOW: &str =
    "a window, `tile(corner, extents)`, which `load` reads and `store` writes";

/// What an index of Rust's arrays was before it became one: `i` of `i as usize`.
pub(crate) fn as_usize(index: &Expr) -> Option<&Expr> {
    let ExprKind::Cast(of, ty) = &index.kind else { return None };
    (ty.path()?.only()?.name == "usize").then_some(of)
}

/// Whether a value is a tensor, or one is a part of it.
fn holds_tensor(val: &Val) -> bool {
    val.tensor().is_some() || val.parts().is_some_and(|parts| parts.iter().any(holds_tensor))
}

impl Builder<'_> {
    pub(crate) fn index(&mut self, base: &Expr, index: &Expr, env: Env, loc: Loc) -> Val {
        if let Some(reported) = self.extent_by_index(base, index, env, loc) {
            return reported;
        }
        let nested = matches!(base.kind, ExprKind::Index(..));
        let val = if nested { self.indexed_tensor(base, env) } else { None };
        let val = val.unwrap_or_else(|| self.plain_expr(base, env));
        let (at, counts) = match (&val, as_usize(index)) {
            // Rust's index: what an `i32` becomes for it.
            (Val::Array(_), Some(index)) => (self.plain_expr(index, env), true),
            _ => (self.plain_expr(index, env), false),
        };
        if let Val::Array(parts) = &val
            && !(counts && self.is_number(&at))
            && !self.indexes(&at, parts, index)
        {
            return Val::Error;
        }
        if let Val::Array(parts) | Val::List(parts) = &val {
            let Val::Const(Const::Int(at), _) = at else {
                return self.choose(parts, &at, loc);
            };
            return match usize::try_from(at).ok().and_then(|at| parts.get(at)) {
                Some(part) => self.plain(part.clone()),
                None => self.report(
                    Code::Overflow.at(index.loc, "an index past the end of an array").compare(
                        "index",
                        format!("0 to {}", parts.len().saturating_sub(1)),
                        at,
                    ),
                ),
            };
        }
        if val.is_absent() {
            return Val::Error;
        }
        if let Val::Value(value) = val {
            let at = (&at, index.loc);
            let chosen = match self.ty(value) {
                Type::Shared(_) => Some(self.shared_index(value, at, loc)),
                Type::TensorMemory(_) => Some(self.tensor_memory_index(value, at, loc)),
                Type::Barrier(_) => Some(self.barrier_index(value, at, loc)),
                Type::Scalar(_) | Type::Tile(..) | Type::Error => None,
            };
            if let Some(chosen) = chosen {
                return chosen.unwrap_or(Val::Error);
            }
        }
        let mut what = self.describe(&val);
        let help;
        let why = if let Some(param) = val.tensor() {
            "a tensor".clone_into(&mut what);
            let own = self.element_of_tensor(&val, (base, index), env);
            help = Some(own.unwrap_or_else(|| format!("{}.load()", self.window_of(param))));
            "a tensor is read and written tile by tile; one element is a tile of extent 1"
        } else if val.value().is_some_and(|value| self.is_ptr(value)) {
            let [base, index] = [(base, "p"), (index, "i")]
                .map(|(part, other)| part.operand_text().unwrap_or_else(|| other.to_owned()));
            help = Some(format!("load({base} + {index})"));
            "`+` moves an address, in elements, and `load` reads it"
        } else {
            help = self.elements_of_tile(&val, base, (&at, index));
            "arrays and rings of shared buffers can be indexed; the elements of a tile belong to threads"
        };
        let headline = format!("{what} cannot be indexed");
        let diagnostic = Code::NotAFunction.at(loc, headline).why(why).help_if(help);
        let of_tensor = val.tensor().and_then(|_| base.text().zip(index.text()));
        self.report(match of_tensor {
            Some((base, index)) => diagnostic.compare("", A_WINDOW, format!("`{base}[{index}]`")),
            None => diagnostic,
        })
    }

    /// Reports `x.shape()[1]` and `x.shape[1]` of what has `dim`.
    fn extent_by_index(&mut self, base: &Expr, index: &Expr, env: Env, loc: Loc) -> Option<Val> {
        let (of, name) = if let ExprKind::Method(of, name, args) = &base.kind
            && args.is_empty()
        {
            (of, &name.name)
        } else if let ExprKind::Field(of, name) = &base.kind {
            (of, &name.name)
        } else {
            return None;
        };
        let method = match name.as_str() {
            "shape" | "size" | "sizes" | "dims" | "extents" => "dim",
            "strides" | "stride" => "stride",
            _ => return None,
        };
        // What is not a name is evaluated once.
        of.name()?;
        let val = self.plain_expr(of, env);
        if self.has_method(&val, name) || !self.has_method(&val, method) {
            return None;
        }
        let what = self.describe(&val);
        let call = of.operand_text().zip(index.text());
        Some(
            self.report(
                Code::NotAFunction
                    .at(loc, format!("{what} has no `{name}` that is indexed"))
                    .why(format!("`{method}` takes the axis"))
                    .help_if(call.map(|(of, index)| format!("{of}.{method}({index})"))),
            ),
        )
    }

    /// What an index of a tile asks for, written with its methods.
    fn elements_of_tile(
        &self,
        val: &Val,
        base: &Expr,
        (at, index): (&Val, &Expr),
    ) -> Option<String> {
        let Val::Value(tile) = val else { return None };
        let Type::Tile(_, shape) = self.ty(*tile) else { return None };
        let of = base.operand_text()?;
        let rest = ", ..".repeat(shape.len().checked_sub(1)?);
        let slice = |range: &str| {
            if rest.is_empty() {
                format!("{of}.slice({range})")
            } else {
                format!("{of}.slice(({range}{rest}))")
            }
        };
        if let Val::Const(Const::Int(at), _) = at {
            let extent = i128::from(shape[0]);
            let at = if *at < 0 { extent + at } else { *at };
            let item = if rest.is_empty() { ".item()" } else { "" };
            let inside = (0..extent).contains(&at);
            return inside.then(|| slice(&format!("{at}..{}", at + 1)) + item);
        }
        if let Val::Range(range) = at {
            let known = |end: &Val| matches!(end, Val::Const(..) | Val::Unit);
            let text = index.text().filter(|_| known(&range.from) && known(&range.to));
            return text.map(|text| slice(&text));
        }
        let at = at.value()?;
        let text = index.text()?;
        if self.is_scalar(at) && rest.is_empty() && !self.is_ptr(*tile) {
            let zero = if self.cells.is_float(self.num(*tile)) { "0.0" } else { "0" };
            let here = format!("arange(0, {}).eq({text})", shape[0]);
            return Some(format!("select({here}, {of}, {zero}).sum(0).item()"));
        }
        let like = matches!(self.ty(at), Type::Tile(_, of) if of.len() == shape.len());
        like.then(|| format!("{of}.gather(0, {text})"))
    }

    /// Whether a value can index an array of Rust, or a report. Rust has `usize` there, and only a literal becomes one.
    fn indexes(&mut self, at: &Val, parts: &[Val], index: &Expr) -> bool {
        let loc = index.loc;
        if let Some(Type::Shared(shared)) = parts.first().and_then(|part| self.ty_of(part))
            && !matches!(at, Val::Const(..))
            && !at.is_absent()
        {
            let mut extents = vec![u32::try_from(parts.len()).unwrap_or(u32::MAX)];
            extents.extend(&shared.shape);
            let dtype = self.cells.name(self.num_of(&parts[0]).unwrap_or(Num::Known(Dtype::F32)));
            self.report(
                Code::NotConstant.at(loc, "an index into this array must be known at compile time")
                    .why("its elements are different allocations; buffers that a loop chooses among are one allocation with one more axis")
                    .help(format!("let bufs = shared::<{dtype}>({extents:?});"))
                    .exemplified(),
            );
            return false;
        }
        let num = self.num_of(at).filter(|_| self.is_number(at));
        if at.is_absent() || num.is_some_and(|num| self.cells.unify_index(num).is_some()) {
            return true;
        }
        if !matches!(at, Val::Value(value) if !self.is_scalar(*value))
            && num.is_some_and(|num| !self.cells.is_float(num))
            && let Some(text) = index.operand_text()
        {
            self.report(
                Code::DtypeMismatch
                    .at(loc, "a Rust array is indexed by a `usize`")
                    .compare("", "usize", self.describe(at))
                    .help(format!("{text} as usize")),
            );
            return false;
        }
        let is_point = matches!(at, Val::Value(value) if self.is_point(*value));
        let item = index.operand_text().filter(|_| is_point);
        self.report(
            Code::DtypeMismatch
                .at(loc, "a Rust array is indexed by a `usize`")
                .compare("", "usize", self.describe(at))
                .why("an `i32` becomes one by `as usize`")
                .help_if(item.map(|text| format!("{text}.item() as usize"))),
        );
        false
    }

    /// An element of an array at a run-time index: a chain of selections.
    fn choose(&mut self, parts: &[Val], at: &Val, loc: Loc) -> Val {
        if let Val::Value(index) = at
            && self.wants_scalar(*index, "the index into an array is an `i32`", loc).is_none()
        {
            return Val::Error;
        }
        let Some(first) = parts.first() else {
            return self.error(Code::Overflow, loc, "an empty array has no elements");
        };
        let mut out = self.plain(first.clone());
        for (index, part) in parts.iter().enumerate().skip(1) {
            let part = self.plain(part.clone());
            let index = Val::Const(
                Const::Int(i128::try_from(index).expect("small")),
                self.cells.open(Class::Int),
            );
            let here = self.compare(crate::ir::Compare::Eq, at, &index, loc).unwrap_or(Val::Error);
            out = self.select_any(&here, &part, &out, loc);
        }
        out
    }

    fn select_any(&mut self, mask: &Val, a: &Val, b: &Val, loc: Loc) -> Val {
        if a.same(b) {
            return a.clone();
        }
        match (a.parts(), b.parts()) {
            (Some(x), Some(y)) if x.len() == y.len() => {
                let mut leaves = Vec::new();
                for (x, y) in x.to_vec().iter().zip(y.to_vec().iter()) {
                    leaves.push(self.select_any(mask, x, y, loc));
                }
                let mut out = a.clone();
                for (slot, leaf) in out.parts_mut().into_iter().flatten().zip(leaves) {
                    *slot = leaf;
                }
                out
            }
            _ => {
                let can_be = |val: &Val| {
                    matches!(val, Val::Const(..))
                        || val.value().is_some_and(|value| !self.is_handle(value))
                };
                if can_be(a) && can_be(b) {
                    return self.select(mask, [a, b], loc).unwrap_or(Val::Error);
                }
                if holds_tensor(a) || holds_tensor(b) {
                    return self.report(
                        Code::NotConstant
                            .at(loc, "an index into an array of tensors must be known at compile time")
                            .why("each tensor is a parameter of its own; which of them is meant decides what code reads it. A loop that is unrolled has an iteration for each")
                            .help("for i in unroll(0..2) { if i == which { xs[i as usize].tile(..).load() } }")
                            .exemplified(),
                    );
                }
                let memory = if self.in_tensor_memory(a) { "tmem" } else { "shared" };
                self.report(
                    Code::NotConstant.at(loc, "an index into this array must be known at compile time")
                        .why("its elements are different allocations, so the index is needed at compile time")
                        .help(format!("{memory}::<T>([STAGES, ROWS, COLS])[i]"))
                        .exemplified(),
                )
            }
        }
    }

    /// `bufs[i]`
    fn shared_index(&mut self, window: Value, at: (&Val, Loc), loc: Loc) -> Option<Val> {
        let Type::Shared(ty) = self.ty(window).clone() else { return None };
        if ty.shape.len() < 2 || ty.transposed {
            let (headline, help) = if ty.transposed {
                ("a ring of buffers has an axis before those of its tiles", None)
            } else {
                let help = self.applied(window, ".load()");
                ("shared memory is read and written as tiles", Some(help))
            };
            let required = "[STAGES, ROWS, COLS] or [STAGES, N]";
            let diagnostic = Code::SharedUse.at(loc, headline).compare(
                "extents",
                required,
                format!("{:?}", ty.shape),
            );
            return self.refuse(match help {
                Some(help) => diagnostic
                    .why("an index chooses one buffer of a ring; the compiler chooses which thread holds an element")
                    .help(help),
                None => diagnostic,
            });
        }
        let (count, ty) = (ty.shape[0], ty.without_leading()?);
        let words =
            ("the index into a ring is an `i32`", "an index past the end of a ring of buffers");
        let index = self.chosen((at.0, loc), count, words)?;
        self.note_use(index, loc, at.1);
        Some(Val::Value(self.emit(WindowOp::Index, vec![window, index], Type::Shared(ty), loc)))
    }

    /// The index of one of this many buffers, tiles or barriers; the words are the headlines for what is no `i32`, and for what is
    /// none of theirs.
    pub(crate) fn chosen(
        &mut self,
        (at, loc): (&Val, Loc),
        count: u32,
        (kind, past): (&str, &str),
    ) -> Option<Value> {
        let index = self.scalar_i32(at, kind, loc)?;
        if let Val::Const(Const::Int(at), _) = at
            && !(0..i128::from(count)).contains(at)
        {
            let required = format!("0 to {}", count - 1);
            return self.refuse(Code::Overflow.at(loc, past).compare("index", required, at));
        }
        Some(index)
    }
}
