//! Expressions, blocks, patterns, assignments.

use std::rc::Rc;

use super::{
    Builder, Env, array,
    scope::Binding,
    tuple,
    value::{Class, ClosureVal, Num, Place, RangeVal, StructVal, Ty, Val},
};
use crate::{
    diag::{Code, Diagnostic},
    ir::{Const, Dtype, Op, Type},
    loc::Loc,
    syntax::{BinOp, Block, Expr, ExprKind, Ident, Literal, Pat, PatKind, Path, Stmt, UnOp},
};

impl Builder<'_> {
    /// A block in a scope of its own.
    pub(super) fn block(&mut self, block: &Block, env: Env) -> Val {
        let inner = self.scopes.child(env);
        self.block_in(block, inner)
    }

    /// A block whose names go into `env`.
    pub(super) fn block_in(&mut self, block: &Block, env: Env) -> Val {
        self.scopes.add_items(env, &block.items);
        for stmt in &block.stmts {
            if self.dead() {
                return Val::Never;
            }
            match stmt {
                Stmt::Expr(expr) => {
                    self.expr(expr, env);
                }
                Stmt::Let { pat, ty, init } => {
                    let ty = ty.as_ref().map(|ty| self.resolve(ty, env));
                    let val = match init {
                        Some(init) => {
                            let val = self.expr(init, env);
                            match &ty {
                                Some(ty) => self.coerce(val, ty, init.loc),
                                None => val,
                            }
                        }
                        None => Val::Unit,
                    };
                    if !matches!(val, Val::Never) {
                        self.bind_pattern(pat, val, env);
                    }
                }
            }
        }
        if self.dead() {
            return Val::Never;
        }
        match &block.tail {
            Some(tail) => self.expr(tail, env),
            None => Val::Unit,
        }
    }

    /// Declares the names of a pattern.
    pub(super) fn bind_pattern(&mut self, pat: &Pat, val: Val, env: Env) {
        match &pat.kind {
            PatKind::Wild => {}
            PatKind::Ident { name, mutable } => {
                self.scopes.declare(env, name, *mutable, val);
            }
            PatKind::Ref(inner) => {
                let val = self.plain(val);
                self.bind_pattern(inner, val, env);
            }
            PatKind::Tuple(pats) | PatKind::Array(pats) => {
                let val = self.plain(val);
                let parts = match &val {
                    Val::Tuple(parts) | Val::Array(parts) => parts.to_vec(),
                    Val::Unit => Vec::new(),
                    Val::Error | Val::Never => {
                        for pat in pats {
                            self.bind_pattern(pat, Val::Error, env);
                        }
                        return;
                    }
                    other => {
                        let actual = self.describe(other);
                        self.report(
                            Diagnostic::new(
                                Code::Kind,
                                pat.loc,
                                "this pattern takes a tuple or an array apart",
                            )
                            .compare(
                                "",
                                format!("{} parts", pats.len()),
                                actual,
                            ),
                        );
                        Vec::new()
                    }
                };
                for (index, pat) in pats.iter().enumerate() {
                    let part = parts.get(index).cloned().unwrap_or(Val::Error);
                    self.bind_pattern(pat, part, env);
                }
            }
        }
    }

    /// An expression, without a reference around it.
    pub(super) fn plain_expr(&mut self, expr: &Expr, env: Env) -> Val {
        let val = self.expr(expr, env);
        self.plain(val)
    }

    pub(super) fn expr(&mut self, expr: &Expr, env: Env) -> Val {
        if !self.step(expr.loc) || self.dead() {
            return if self.dead() { Val::Never } else { Val::Error };
        }
        let loc = expr.loc;
        match &expr.kind {
            ExprKind::Error => Val::Error,
            ExprKind::Lit(lit) => self.literal(lit, loc),
            ExprKind::Path(path) => self.path(path, env),
            ExprKind::Unary(op, a) => self.unary_expr(*op, a, env, loc),
            ExprKind::Binary(op, a, b) => self.binary_expr(*op, a, b, env, loc),
            ExprKind::Assign(target, value) => {
                let val = self.plain_or_ref(value, env);
                self.assign(target, val, env);
                Val::Unit
            }
            ExprKind::AssignOp(op, target, value) => {
                let right = self.plain_expr(value, env);
                let left = self.plain_expr(target, env);
                let val = self.binary(*op, left, right, loc);
                self.assign(target, val, env);
                Val::Unit
            }
            ExprKind::Call(callee, args) => self.call_expr(callee, args, env, loc),
            ExprKind::Method(receiver, name, args) => self.method(receiver, name, args, env, loc),
            ExprKind::Field(base, name) => self.field(base, name, env),
            ExprKind::Index(base, index) => self.index(base, index, env, loc),
            ExprKind::Tuple(parts) => tuple(parts.iter().map(|p| self.expr(p, env)).collect()),
            ExprKind::Array(parts) => {
                let vals = parts.iter().map(|p| self.expr(p, env)).collect();
                self.same_elements(vals, loc)
            }
            ExprKind::Repeat(value, count) => {
                let val = self.expr(value, env);
                let count_val = self.expr(count, env);
                match self.const_int(&count_val, "the length of an array", count.loc) {
                    Some(n) if (0..=4096).contains(&n) => {
                        array(vec![val; usize::try_from(n).expect("at most 4096")])
                    }
                    Some(n) => self.error(
                        Code::Overflow,
                        count.loc,
                        format!("an array cannot have {n} elements"),
                    ),
                    None => Val::Error,
                }
            }
            ExprKind::Struct(path, fields) => self.struct_literal(path, fields, env),
            ExprKind::Block(block) => self.block(block, env),
            ExprKind::ConstBlock(block) => self.const_block(block, env),
            ExprKind::If(condition, then, otherwise) => {
                self.branch(condition, then, otherwise.as_deref(), env, loc)
            }
            ExprKind::While(label, condition, body) => {
                self.while_loop(label.as_deref(), condition, body, env, loc);
                Val::Unit
            }
            ExprKind::For(label, pat, iter, body) => {
                self.for_loop(label.as_deref(), pat, iter, body, env, loc);
                Val::Unit
            }
            ExprKind::Loop(label, body) => self.plain_loop(label.as_deref(), body, env, loc),
            ExprKind::Break(label, value) => {
                let val = value.as_ref().map_or(Val::Unit, |e| self.expr(e, env));
                self.leave(label.as_deref(), &val, loc)
            }
            ExprKind::Continue(label) => self.next_turn(label.as_deref(), loc),
            ExprKind::Return(value) => {
                let val = value.as_ref().map_or(Val::Unit, |e| self.expr(e, env));
                self.give_back(&val, loc)
            }
            ExprKind::Closure(params, body) => Val::Closure(Rc::new(ClosureVal {
                params: params.clone(),
                body: (**body).clone(),
                scope: env,
            })),
            ExprKind::Range(from, to) => self.range_expr(from.as_deref(), to.as_deref(), env, loc),
            ExprKind::Cast(value, ty) => {
                let val = self.plain_expr(value, env);
                match self.resolve(ty, env) {
                    Ty::Scalar(num) => {
                        let tile = match &val {
                            Val::Value(value) => !matches!(self.ty(*value), Type::Scalar(_)),
                            _ => false,
                        };
                        if tile {
                            let name = self.cells.name(num);
                            let actual = self.describe(&val);
                            return self.report(
                                Diagnostic::new(Code::Kind, loc, "`as` converts scalars")
                                    .compare("", "a scalar", actual)
                                    .help(format!(".cast::<{name}>()")),
                            );
                        }
                        self.cast(val, num, loc)
                    }
                    Ty::Infer => val,
                    other => {
                        let name = self.type_name(&other);
                        self.error(Code::Kind, ty.loc, format!("`as` does not convert to `{name}`"))
                    }
                }
            }
            ExprKind::Ref(_, inner) => match self.place(inner, env) {
                Some(place) => Val::Ref(Rc::new(place)),
                None => self.expr(inner, env),
            },
            ExprKind::Assert(condition, message) => {
                self.assertion(condition, message.as_deref(), env)
            }
        }
    }

    /// A value to store: references stay references only where they were written as such.
    fn plain_or_ref(&mut self, expr: &Expr, env: Env) -> Val {
        self.expr(expr, env)
    }

    fn literal(&mut self, lit: &Literal, loc: Loc) -> Val {
        match lit {
            Literal::Bool(value) => Val::Const(Const::Bool(*value), Num::Known(Dtype::Bool)),
            Literal::Int(value, suffix) => {
                let num = self.literal_type(suffix.as_deref(), Class::Int, loc);
                num.map_or(Val::Error, |num| self.settle_const(Const::Int(*value), num, loc))
            }
            Literal::Float(value, suffix) => {
                let num = self.literal_type(suffix.as_deref(), Class::Float, loc);
                num.map_or(Val::Error, |num| self.settle_const(Const::Float(*value), num, loc))
            }
            Literal::Str(text) => Val::Str(Rc::from(text.as_str())),
        }
    }

    fn literal_type(&mut self, suffix: Option<&str>, class: Class, loc: Loc) -> Option<Num> {
        match suffix {
            None => Some(self.cells.open(class)),
            Some("usize" | "isize") => {
                self.report(
                    Diagnostic::new(Code::DtypeRefused, loc, "kernels count in `i32`")
                        .why("indices, extents and integer const generics are `i32` in kernels"),
                );
                None
            }
            Some(suffix) => match Dtype::from_name(suffix) {
                Some(dtype) => Some(Num::Known(dtype)),
                None => {
                    self.error(
                        Code::DtypeRefused,
                        loc,
                        format!("`{suffix}` is not a type that kernels know"),
                    );
                    None
                }
            },
        }
    }

    fn unary_expr(&mut self, op: UnOp, a: &Expr, env: Env, loc: Loc) -> Val {
        use crate::ir::Unary;
        let val = self.plain_expr(a, env);
        match op {
            UnOp::Deref => val,
            UnOp::Neg => self.unary(Unary::Neg, val, loc),
            UnOp::Not => self.unary(Unary::Not, val, loc),
        }
    }

    fn binary_expr(&mut self, op: BinOp, a: &Expr, b: &Expr, env: Env, loc: Loc) -> Val {
        match op {
            BinOp::AndAnd => self.short_circuit(true, a, b, env, loc),
            BinOp::OrOr => self.short_circuit(false, a, b, env, loc),
            BinOp::Arith(op) => {
                let (left, right) = (self.plain_expr(a, env), self.plain_expr(b, env));
                self.binary(op, left, right, loc)
            }
            BinOp::Compare(op) => {
                let (left, right) = (self.plain_expr(a, env), self.plain_expr(b, env));
                for (side, expr) in [(&left, a), (&right, b)] {
                    if let Val::Value(value) = side
                        && matches!(self.ty(*value), Type::Tile(..))
                    {
                        let method = match op {
                            crate::ir::Compare::Lt => "lt",
                            crate::ir::Compare::Le => "le",
                            crate::ir::Compare::Gt => "gt",
                            crate::ir::Compare::Ge => "ge",
                            crate::ir::Compare::Eq => "eq",
                            crate::ir::Compare::Ne => "ne",
                        };
                        let actual = self.describe(side);
                        return self.report(
                            Diagnostic::new(Code::Kind, expr.loc, "tiles are not compared with operators")
                                .compare("", "a scalar", actual)
                                .why("Rust's comparison operators give one `bool`; a tile gives a mask, one `bool` an element")
                                .help(format!("x.{method}(y)")),
                        );
                    }
                }
                self.compare(op, left, right, loc)
            }
        }
    }

    fn range_expr(&mut self, from: Option<&Expr>, to: Option<&Expr>, env: Env, loc: Loc) -> Val {
        let (Some(from), Some(to)) = (from, to) else {
            return self.error(
                Code::Unsupported,
                loc,
                "a range without both ends cannot be used in a kernel",
            );
        };
        let (from, to) = (self.plain_expr(from, env), self.plain_expr(to, env));
        let step = Val::Const(Const::Int(1), self.cells.open(Class::Int));
        Val::Range(Rc::new(RangeVal { from, to, step, unroll: false, loc }))
    }

    /// The elements of an array have one type.
    fn same_elements(&mut self, vals: Vec<Val>, loc: Loc) -> Val {
        if let Some(first) = vals.first().cloned() {
            let ty = self.type_of(&first);
            let vals = vals.into_iter().map(|val| self.coerce(val, &ty, loc)).collect();
            return array(vals);
        }
        array(vals)
    }

    fn const_block(&mut self, block: &Block, env: Env) -> Val {
        self.block(block, env)
    }

    fn assertion(&mut self, condition: &Expr, message: Option<&str>, env: Env) -> Val {
        match self.plain_expr(condition, env) {
            Val::Const(Const::Bool(true), _) | Val::Error | Val::Never => Val::Unit,
            Val::Const(Const::Bool(false), _) => {
                let headline =
                    message.map_or("a compile-time assertion fails".to_owned(), str::to_owned);
                self.error(Code::AssertionFailed, condition.loc, headline)
            }
            _ => self.report(
                Diagnostic::new(
                    Code::NotConstant,
                    condition.loc,
                    "`assert!` is checked when compiling",
                )
                .why("this condition depends on a value that is known only at run time")
                .help("device_assert(condition)"),
            ),
        }
    }

    // ----------------------------------------------------------------------------- names and places

    /// A name or path as a value.
    pub(super) fn path(&mut self, path: &Path, env: Env) -> Val {
        match path.segments.as_slice() {
            [only] => match self.scopes.lookup(env, &only.name).cloned() {
                Some(Binding::Var(var)) => self.scopes.vars[var.0 as usize].val.clone(),
                Some(Binding::Const(item, home)) => {
                    let val = self.plain_expr(&item.value, home);
                    let ty = self.resolve(&item.ty, home);
                    self.coerce(val, &ty, path.loc)
                }
                Some(Binding::Type(Ty::Const(value, num))) => Val::Const(value, num),
                Some(Binding::Type(Ty::Infer)) => Val::Error,
                Some(Binding::Struct(def, home)) if def.fields.is_empty() => {
                    Val::Struct(Rc::new(StructVal {
                        def,
                        scope: home,
                        generics: Vec::new(),
                        fields: Vec::new(),
                    }))
                }
                Some(Binding::Use(real)) => {
                    let name = real.last().cloned().unwrap_or_default();
                    self.language_value(&name)
                        .unwrap_or_else(|| self.unknown(&only.name, path.loc, env))
                }
                Some(_) => {
                    self.error(Code::Kind, path.loc, format!("`{}` is not a value", only.name))
                }
                None => match self.language_value(&only.name) {
                    Some(val) => val,
                    None => self.unknown(&only.name, path.loc, env),
                },
            },
            [.., ty, name] => self.associated(ty, name, env, path.loc),
            [] => Val::Error,
        }
    }

    /// Values of the language that stand for themselves: target names.
    fn language_value(&self, name: &str) -> Option<Val> {
        super::params::target_named(name).map(Val::Target)
    }

    pub(super) fn unknown(&mut self, name: &str, loc: Loc, env: Env) -> Val {
        let known =
            self.scopes.names(env).into_iter().chain(super::builtins::NAMES.iter().copied());
        let mut diagnostic =
            Diagnostic::new(Code::UnknownName, loc, format!("nothing is called `{name}` here"));
        if let Some(near) = super::nearest(name, known) {
            diagnostic = diagnostic.help(near.to_owned());
        }
        self.report(diagnostic)
    }

    /// `T::BYTES`, `f32::MAX`, `Name::CONST`
    fn associated(
        &mut self,
        ty: &crate::syntax::Segment,
        name: &crate::syntax::Segment,
        env: Env,
        loc: Loc,
    ) -> Val {
        let type_expr = crate::syntax::TypeExpr {
            kind: crate::syntax::TypeKind::Path(Path { segments: vec![ty.clone()], loc: ty.loc }),
            loc: ty.loc,
        };
        match self.resolve(&type_expr, env) {
            Ty::Scalar(num) => {
                let dtype = self.cells.settled(num);
                match dtype_constant(dtype, &name.name) {
                    Some((value, of)) => Val::Const(value, Num::Known(of)),
                    None => self.report(
                        Diagnostic::new(Code::UnknownName, name.loc, format!("`{}` has no constant `{}`", dtype.name(), name.name))
                            .why("element types have BITS, BYTES, ZERO, MIN and MAX, floats also INFINITY, NEG_INFINITY, NAN and EPSILON"),
                    ),
                }
            }
            Ty::Struct(def, home, generics) => match self.find_const(&def, &name.name) {
                Some((item, outer, params, pattern)) => {
                    let scope =
                        self.impl_scope(outer, &params, &pattern, &Ty::Struct(def, home, generics));
                    let val = self.plain_expr(&item.value, scope);
                    let ty = self.resolve(&item.ty, scope);
                    self.coerce(val, &ty, loc)
                }
                None => self.error(
                    Code::UnknownName,
                    name.loc,
                    format!("`{}` has no constant `{}`", def.name.name, name.name),
                ),
            },
            _ => Val::Error,
        }
    }

    /// Where an expression is stored, if it is a place.
    pub(super) fn place(&mut self, expr: &Expr, env: Env) -> Option<Place> {
        match &expr.kind {
            ExprKind::Path(path) => {
                let [only] = path.segments.as_slice() else { return None };
                let Some(Binding::Var(var)) = self.scopes.lookup(env, &only.name) else {
                    return None;
                };
                Some(self.followed(Place { var: *var, path: Vec::new() }))
            }
            ExprKind::Unary(UnOp::Deref, inner) => self.place(inner, env),
            ExprKind::Field(base, name) => {
                let mut place = self.place(base, env)?;
                let index = field_index(&self.read(&place), &name.name)?;
                place.path.push(index);
                Some(self.followed(place))
            }
            ExprKind::Index(base, index) => {
                let mut place = self.place(base, env)?;
                let whole = self.read(&place);
                let Val::Array(parts) = &whole else { return None };
                let len = parts.len();
                let index_val = self.plain_expr(index, env);
                let Val::Const(Const::Int(at), _) = index_val else { return None };
                let at = usize::try_from(at).ok().filter(|at| *at < len)?;
                place.path.push(at);
                Some(self.followed(place))
            }
            _ => None,
        }
    }

    /// A place that holds a reference stands for what it refers to.
    fn followed(&self, place: Place) -> Place {
        let mut val = &self.scopes.vars[place.var.0 as usize].val;
        for (depth, index) in place.path.iter().enumerate() {
            if let Val::Ref(next) = val {
                let mut path = next.path.clone();
                path.extend(&place.path[depth..]);
                return self.followed(Place { var: next.var, path });
            }
            match val.parts().and_then(|parts| parts.get(*index)) {
                Some(part) => val = part,
                None => return place,
            }
        }
        match val {
            Val::Ref(next) => self.followed((**next).clone()),
            _ => place,
        }
    }

    fn assign(&mut self, target: &Expr, val: Val, env: Env) {
        if matches!(val, Val::Never) || self.dead() {
            return;
        }
        match &target.kind {
            ExprKind::Path(path) if path.segments.len() == 1 && path.segments[0].name == "_" => {}
            ExprKind::Tuple(parts) | ExprKind::Array(parts) => {
                let val = self.plain(val);
                let vals = match &val {
                    Val::Tuple(vals) | Val::Array(vals) => vals.to_vec(),
                    _ => vec![Val::Error; parts.len()],
                };
                for (part, val) in parts.iter().zip(vals) {
                    self.assign(part, val, env);
                }
            }
            _ => match self.place(target, env) {
                Some(place) => self.assign_place(&place, val, target.loc),
                None => {
                    let base = self.plain_expr(target, env);
                    if !matches!(base, Val::Error | Val::Never) {
                        self.report(
                            Diagnostic::new(Code::Kind, target.loc, "this cannot be assigned to")
                                .why("what changes is a variable, a field, or an array element at an index known when compiling; tiles and memory are written with `store`"),
                        );
                    }
                }
            },
        }
    }

    pub(super) fn assign_place(&mut self, place: &Place, val: Val, loc: Loc) {
        let old = self.read(place);
        let val = if matches!(old, Val::Unit) {
            val
        } else {
            let val = self.plain(val);
            let ty = self.type_of(&old);
            let val = self.coerce(val, &ty, loc);
            self.check_same_shape(&old, val, loc)
        };
        let mut root = self.scopes.vars[place.var.0 as usize].val.clone();
        set_at(&mut root, &place.path, val);
        self.scopes.vars[place.var.0 as usize].val = root;
    }

    /// A variable keeps the shape that it has.
    fn check_same_shape(&mut self, old: &Val, new: Val, loc: Loc) -> Val {
        if let (Val::Value(a), Val::Value(b)) = (old, &new)
            && self.ty(*a).shape() != self.ty(*b).shape()
        {
            let (required, actual) = (self.describe(old), self.describe(&new));
            return self.report(
                Diagnostic::new(Code::ShapeMismatch, loc, "a variable keeps its shape")
                    .compare("", required, actual)
                    .help("let y = .."),
            );
        }
        if let (Val::Const(..), Val::Value(b)) = (old, &new)
            && !self.ty(*b).shape().is_empty()
        {
            let actual = self.describe(&new);
            return self.report(
                Diagnostic::new(Code::ShapeMismatch, loc, "a variable keeps its shape")
                    .compare("", "a scalar", actual),
            );
        }
        new
    }

    fn field(&mut self, base: &Expr, name: &Ident, env: Env) -> Val {
        let val = self.plain_expr(base, env);
        match field_index(&val, &name.name) {
            Some(index) => {
                let part =
                    val.parts().and_then(|parts| parts.get(index)).cloned().unwrap_or(Val::Error);
                self.plain(part)
            }
            None => {
                if matches!(val, Val::Error | Val::Never) {
                    return Val::Error;
                }
                let what = self.describe(&val);
                let mut diagnostic = Diagnostic::new(
                    Code::NotAFunction,
                    name.loc,
                    format!("{what} has no field `{}`", name.name),
                );
                if let Val::Struct(item) = &val
                    && let Some(near) =
                        super::nearest(&name.name, item.def.fields.iter().map(|(n, _)| n.as_str()))
                {
                    diagnostic = diagnostic.help(near.to_owned());
                }
                self.report(diagnostic)
            }
        }
    }

    fn index(&mut self, base: &Expr, index: &Expr, env: Env, loc: Loc) -> Val {
        let val = self.plain_expr(base, env);
        let at = self.plain_expr(index, env);
        match &val {
            Val::Array(parts) => {
                if let Val::Const(Const::Int(at), _) = at {
                    return match usize::try_from(at).ok().and_then(|at| parts.get(at)) {
                        Some(part) => self.plain(part.clone()),
                        None => self.report(
                            Diagnostic::new(
                                Code::Overflow,
                                index.loc,
                                "an index past the end of an array",
                            )
                            .compare(
                                "index",
                                format!("0 to {}", parts.len().saturating_sub(1)),
                                at.to_string(),
                            ),
                        ),
                    };
                }
                self.choose(&parts.clone(), &at, loc)
            }
            Val::Value(value) if matches!(self.ty(*value), Type::Shared(_)) => {
                self.shared_index(*value, &at, loc)
            }
            Val::Error | Val::Never => Val::Error,
            other => {
                let what = self.describe(other);
                self.report(
                    Diagnostic::new(Code::NotAFunction, loc, format!("{what} cannot be indexed"))
                        .why("arrays and rings of shared buffers are; elements of a tile belong to threads, and are reached by reductions and masks"),
                )
            }
        }
    }

    /// An element of an array at a run-time index: a chain of selections.
    fn choose(&mut self, parts: &[Val], at: &Val, loc: Loc) -> Val {
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
            let here = self.compare(crate::ir::Compare::Eq, at.clone(), index, loc);
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
                for (index, leaf) in leaves.into_iter().enumerate() {
                    out.set_part(index, leaf);
                }
                out
            }
            _ => {
                let scalar = |val: &Val| match val {
                    Val::Const(..) => true,
                    Val::Value(value) => !matches!(self.ty(*value), Type::Shared(_)),
                    _ => false,
                };
                if scalar(a) && scalar(b) {
                    return self.select(mask.clone(), a.clone(), b.clone(), loc);
                }
                self.report(
                    Diagnostic::new(Code::NotConstant, loc, "an index into this array must be known when compiling")
                        .why("its elements are different allocations, which no register can choose between")
                        .help("shared::<T>([STAGES, ROWS, COLS])[i]"),
                )
            }
        }
    }

    fn struct_literal(&mut self, path: &Path, fields: &[(Ident, Expr)], env: Env) -> Val {
        let type_expr = crate::syntax::TypeExpr {
            kind: crate::syntax::TypeKind::Path(path.clone()),
            loc: path.loc,
        };
        let (def, home, mut generics) = match self.resolve(&type_expr, env) {
            Ty::Struct(def, home, generics) => (def, home, generics),
            other => {
                for (_, value) in fields {
                    self.expr(value, env);
                }
                if matches!(other, Ty::Infer) {
                    return Val::Error;
                }
                return self.error(Code::Kind, path.loc, "this is not a struct");
            }
        };
        let names: Vec<String> = def.generics.iter().map(|g| g.name.name.clone()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut vals = vec![Val::Error; def.fields.len()];
        let mut seen = vec![false; def.fields.len()];
        let mut inferred: Vec<(String, Ty)> = Vec::new();
        for (name, value) in fields {
            let val = self.expr(value, env);
            match def.fields.iter().position(|(field, _)| *field == name.name) {
                Some(index) => {
                    let ty = self.type_of(&val);
                    self.infer_generics(&def.fields[index].1, &ty, &names, &mut inferred);
                    vals[index] = val;
                    seen[index] = true;
                }
                None => {
                    let near =
                        super::nearest(&name.name, def.fields.iter().map(|(n, _)| n.as_str()));
                    let mut diagnostic = Diagnostic::new(
                        Code::NotAFunction,
                        name.loc,
                        format!("`{}` has no field `{}`", def.name.name, name.name),
                    );
                    if let Some(near) = near {
                        diagnostic = diagnostic.help(near.to_owned());
                    }
                    self.report(diagnostic);
                }
            }
        }
        for (index, (field, _)) in def.fields.iter().enumerate() {
            if !seen[index] {
                self.error(
                    Code::ArgumentCount,
                    path.loc,
                    format!("the field `{field}` of `{}` is missing", def.name.name),
                );
            }
        }
        for (slot, name) in generics.iter_mut().zip(&names) {
            if matches!(slot, Ty::Infer)
                && let Some((_, ty)) = inferred.iter().find(|(n, _)| n == name)
            {
                *slot = ty.clone();
            }
        }
        // The declared types of the fields settle literals: `phase: i32`.
        let scope = self.scopes.child(home);
        for (param, ty) in def.generics.iter().zip(&generics) {
            self.scopes.bind(scope, &param.name.name, Binding::Type(ty.clone()));
        }
        for (index, (_, ty)) in def.fields.iter().enumerate() {
            let want = self.resolve(ty, scope);
            let is_ref = matches!(vals[index], Val::Ref(_));
            if !is_ref {
                let val = std::mem::replace(&mut vals[index], Val::Error);
                vals[index] = self.coerce(val, &want, path.loc);
            }
        }
        Val::Struct(Rc::new(StructVal { def, scope: home, generics, fields: vals }))
    }
}

/// The position of a field in an aggregate.
fn field_index(val: &Val, name: &str) -> Option<usize> {
    match val {
        Val::Struct(item) => item.def.fields.iter().position(|(field, _)| field == name),
        Val::Tuple(parts) => name.parse::<usize>().ok().filter(|index| *index < parts.len()),
        _ => None,
    }
}

fn set_at(root: &mut Val, path: &[usize], val: Val) {
    match path {
        [] => *root = val,
        [index, rest @ ..] => {
            if let Some(mut part) = root.parts().and_then(|parts| parts.get(*index)).cloned() {
                set_at(&mut part, rest, val);
                root.set_part(*index, part);
            }
        }
    }
}

/// `f32::MAX` and the like: the value and its type.
pub(super) fn dtype_constant(dtype: Dtype, name: &str) -> Option<(Const, Dtype)> {
    let int = |value: i128| Some((Const::Int(value), Dtype::I32));
    let own = |value: f64| Some((Const::Float(value), dtype));
    match name {
        "BITS" => return int(i128::from(dtype.bytes() * 8)),
        "BYTES" => return int(i128::from(dtype.bytes())),
        _ => {}
    }
    if let Some((lo, hi)) = super::arith::int_range(dtype) {
        return match name {
            "MIN" => Some((Const::Int(lo), dtype)),
            "MAX" => Some((Const::Int(hi), dtype)),
            "ZERO" => Some((Const::Int(0), dtype)),
            _ => None,
        };
    }
    // Largest finite value, and the distance from 1 to the next value.
    let (max, epsilon) = match dtype {
        Dtype::F16 => (65504.0, 2f64.powi(-10)),
        Dtype::Bf16 => (3.389_531_389_251_535_5e38, 2f64.powi(-7)),
        Dtype::F32 => (f64::from(f32::MAX), f64::from(f32::EPSILON)),
        Dtype::F64 => (f64::MAX, f64::EPSILON),
        _ => return None,
    };
    match name {
        "MIN" => own(-max),
        "MAX" => own(max),
        "ZERO" => own(0.0),
        "INFINITY" => own(f64::INFINITY),
        "NEG_INFINITY" => own(f64::NEG_INFINITY),
        "NAN" => own(f64::NAN),
        "EPSILON" => own(epsilon),
        _ => None,
    }
}

impl Builder<'_> {
    /// `bufs[i]`
    pub(super) fn shared_index(&mut self, window: super::Value, at: &Val, loc: Loc) -> Val {
        let Type::Shared(shared) = self.ty(window).clone() else { return Val::Error };
        if shared.transposed || shared.shape.len() < 2 {
            return self.report(
                Diagnostic::new(
                    Code::SharedUse,
                    loc,
                    "a ring of buffers has an axis in front of its tiles",
                )
                .compare(
                    "extents",
                    "[STAGES, ROWS, COLS] or [STAGES, N]",
                    format!("{:?}", shared.shape),
                ),
            );
        }
        let Some(index) = self.value(at, loc) else { return Val::Error };
        if !self.ty(index).shape().is_empty()
            || self.cells.unify(self.num(index), Num::Known(Dtype::I32)).is_err()
        {
            let actual = self.describe(&Val::Value(index));
            return self.report(
                Diagnostic::new(Code::Kind, loc, "a buffer of a ring is chosen by an `i32`")
                    .compare("", "a scalar (i32)", actual),
            );
        }
        if let Val::Const(Const::Int(at), _) = at
            && !(0..i128::from(shared.shape[0])).contains(at)
        {
            return self.report(
                Diagnostic::new(Code::Overflow, loc, "an index past the end of a ring of buffers")
                    .compare("index", format!("0 to {}", shared.shape[0] - 1), at.to_string()),
            );
        }
        let mut inner = shared;
        inner.shape.remove(0);
        let ty = Type::Shared(inner);
        Val::Value(self.emit(Op::SharedIndex, vec![window, index], ty, loc))
    }
}
