//! Expressions, blocks, patterns, assignments.

use std::{rc::Rc, sync::Arc};

use super::operators::Operand;
use super::said::Said;
use super::value::{Class, ClosureVal, Num, RangeVal, Ty, Val};
use crate::{
    diag::{Code, Lacking, Missing, Spot},
    elaborate::{Builder, Env, array, nothing_called, tuple},
    ir::{Binary, Compare, Const, Dtype, Type},
    loc::Loc,
    syntax::{
        BinOp, Block, Expr, ExprKind, IMPORTED, Ident, Literal, Pat, PatKind, Path, Segment, Stmt,
        TypeExpr, UnOp, VALUE, changed_by_condition, in_one_of_several,
    },
};

impl Builder<'_> {
    /// A block in a scope of its own.
    pub(crate) fn block(&mut self, block: &Block, env: Env) -> Val {
        let inner = self.scopes.child(env);
        self.block_in(block, inner)
    }

    /// A block whose names go into `env`.
    pub(crate) fn block_in(&mut self, block: &Block, env: Env) -> Val {
        self.scopes.add_items(env, &block.items);
        for stmt in &block.stmts {
            if self.dead() {
                return Val::Never;
            }
            self.begin_statement(stmt.expr(), env);
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
                        if let (PatKind::Ident { .. }, Some(init)) = (&pat.kind, init)
                            && let Some(var) = self.scopes.vars.last_mut()
                        {
                            var.first = init.text().map(|text| (init.loc, text.into()));
                        }
                    }
                }
            }
            self.end_statement(stmt.expr());
        }
        if self.dead() {
            return Val::Never;
        }
        let Some(tail) = &block.tail else { return Val::Unit };
        self.begin_statement(Some(tail), env);
        let val = self.expr(tail, env);
        self.end_statement(Some(tail));
        val
    }

    /// Declares the names of a pattern.
    pub(crate) fn bind_pattern(&mut self, pat: &Pat, val: Val, env: Env) {
        match &pat.kind {
            PatKind::Wild => {}
            PatKind::Refused(names) => {
                self.tainted = true;
                for name in names {
                    self.scopes.declare(env, name, true, Val::Error);
                }
            }
            PatKind::Ident { name, mutable } => {
                if name == VALUE {
                    let matched = self.plain(val.clone());
                    self.matched.insert(pat.loc, matched);
                }
                let var = self.scopes.declare(env, name, *mutable, val);
                self.scopes.vars[var.0 as usize].declared = Some(pat.loc);
            }
            PatKind::Again { written } => {
                let now = self.plain(val.clone());
                let before = self.matched.get(&pat.loc);
                let kept = before.is_none_or(|before| before.same(&now));
                let val =
                    if kept { val } else { self.report(changed_by_condition(written, pat.loc)) };
                self.scopes.declare(env, VALUE, false, val);
            }
            PatKind::InArm { name } => {
                if !self.is_constant(name, env) {
                    self.scopes.declare(env, name, false, val);
                }
            }
            PatKind::Ref(inner) => {
                let val = self.plain(val);
                self.bind_pattern(inner, val, env);
            }
            PatKind::Tuple(pats) | PatKind::Array(pats) => {
                let parts = self.taken_apart(val, pats.len(), ("pattern", pat.loc));
                let parts = parts.unwrap_or_else(|| vec![Val::Error; pats.len()]);
                for (pat, part) in pats.iter().zip(parts) {
                    self.bind_pattern(pat, part, env);
                }
            }
        }
    }

    /// Whether a name in a pattern is that of a constant.
    fn is_constant(&self, name: &str, env: Env) -> bool {
        matches!(self.scopes.value_named(env, name), Some(super::scope::Binding::Const(..)))
    }

    /// Whether a value fits a name in a pattern.
    fn fits(&mut self, value: &Expr, name: &Ident, alone: bool, env: Env) -> Val {
        if self.is_constant(&name.name, env) {
            let segment = Segment { name: name.name.clone(), args: Vec::new(), loc: name.loc };
            let path = Path { segments: vec![segment], loc: name.loc };
            let constant = Expr { kind: ExprKind::Path(path), loc: name.loc };
            return self.binary_expr(BinOp::Compare(Compare::Eq), value, &constant, env, name.loc);
        }
        if self.scopes.host.get(&name.name) == Some(&IMPORTED) {
            return self.report(nothing_called(&name.name, name.loc, Some(IMPORTED), []));
        }
        if !alone {
            return self.report(in_one_of_several(name.loc));
        }
        Val::Const(Const::Bool(true), Num::Known(Dtype::Bool))
    }

    /// The parts of a tuple or an array of this many, or a report.
    pub(crate) fn taken_apart(
        &mut self,
        val: Val,
        count: usize,
        (what, loc): (&str, Loc),
    ) -> Option<Vec<Val>> {
        let val = self.plain(val);
        if let Val::Tuple(parts) | Val::Array(parts) = &val
            && parts.len() == count
        {
            return Some(parts.to_vec());
        }
        if matches!(val, Val::Unit) && count == 0 {
            return Some(Vec::new());
        }
        if val.is_absent() {
            return None;
        }
        let headline = format!("this {what} needs a tuple or an array");
        self.refuse_kind(headline, format!("{count} parts"), (&val, loc))
    }

    /// An expression, without a reference around it.
    pub(crate) fn plain_expr(&mut self, expr: &Expr, env: Env) -> Val {
        let val = self.expr(expr, env);
        self.plain(val)
    }

    /// An expression without a reference around it, and the reference, if there is one.
    fn operand(&mut self, expr: &Expr, env: Env) -> (Val, Option<Val>) {
        let given = self.expr(expr, env);
        let reference = matches!(given, Val::Ref(_)).then(|| given.clone());
        (self.plain(given), reference)
    }

    pub(crate) fn expr(&mut self, expr: &Expr, env: Env) -> Val {
        if self.dead() {
            return Val::Never;
        }
        if !self.step(expr.loc) {
            return Val::Error;
        }
        if self.depth == crate::elaborate::MAX_DEPTH {
            return self.report(
                Code::Recursion
                    .at(expr.loc, "calls and expressions are nested too deeply")
                    .compare("depth", format!("at most {}", crate::elaborate::MAX_DEPTH), "more"),
            );
        }
        self.depth += 1;
        let before = self.never_given;
        let val = self.shallow_expr(expr, env);
        self.depth -= 1;
        self.never_given += u32::from(matches!(val, Val::Never));
        let explained = self.problems.reports() > 0 || self.awaits;
        if matches!(val, Val::Error) && !explained && !self.dead() {
            if self.never_given > before {
                return self
                    .report(Code::Kind.at(expr.loc, "this expression never has a value").why(
                    "every path through this expression leaves the function before it has a value",
                ));
            }
            // An error is always reported. Without a report, the rest would be compiled without this part.
            return self.report(
                Code::Bug
                    .at(expr.loc, "the compiler does not understand this, and cannot say why")
                    .help("please report this with the kernel's source"),
            );
        }
        val
    }

    fn shallow_expr(&mut self, expr: &Expr, env: Env) -> Val {
        let loc = expr.loc;
        match &expr.kind {
            ExprKind::Refused(parts) => {
                self.tainted = true;
                for part in parts {
                    self.look_at(&mut |builder| {
                        builder.block(part, env);
                    });
                }
                Val::Error
            }
            ExprKind::Lit(lit) => self.literal(lit, loc),
            ExprKind::Path(path) => self.path(path, env),
            ExprKind::Unary(op, a) => self.unary_expr(*op, a, env, loc),
            ExprKind::Binary(op, a, b) => self.binary_expr(*op, a, b, env, loc),
            ExprKind::Assign(target, value) => {
                let val = self.expr(value, env);
                let assigned = self.check_assigned(target, &val, env, value.loc);
                assigned.map_or(Val::Error, |()| {
                    self.assign(target, (val, value.loc), env);
                    Val::Unit
                })
            }
            ExprKind::AssignOp(op, target, value) => {
                self.assign_op(*op, target, value, env, loc).unwrap_or(Val::Error)
            }
            ExprKind::Call(callee, args) => self.call_expr(callee, args, env, loc),
            ExprKind::Method(receiver, name, args) => self.method(receiver, name, args, env, loc),
            ExprKind::Field(base, name) => self.field(base, name, env, expr.loc),
            ExprKind::Fits { value, name, alone } => self.fits(value, name, *alone, env),
            ExprKind::Index(base, index) => self.index(base, index, env, loc),
            ExprKind::Tuple(parts) => {
                let vals = parts.iter().map(|p| self.expr(p, env)).collect();
                self.bounded(tuple(vals), loc)
            }
            ExprKind::Array(parts) => {
                let vals = parts.iter().map(|p| self.expr(p, env)).collect();
                let val = self.same_elements(vals, loc);
                self.bounded(val, loc)
            }
            ExprKind::Repeat(value, count) => {
                let val = self.expr(value, env);
                let count_val = self.expr(count, env);
                let number = self.const_size(&count_val, "the length of an array", count.loc);
                let len = number.and_then(|n| self.array_length(n, val.size(), count.loc));
                len.map_or(Val::Error, |len| array(vec![val; len]))
            }
            ExprKind::Struct(path, fields) => self.struct_literal(path, fields, env),
            ExprKind::Block(block) | ExprKind::ConstBlock(block) => self.block(block, env),
            ExprKind::If(condition, then, otherwise) => {
                self.branch(condition, then, otherwise.as_deref(), env, loc)
            }
            ExprKind::While(label, condition, body) => {
                self.while_loop(label.as_deref(), condition, body, env, loc).of_statement()
            }
            ExprKind::For(label, pat, iter, body) => {
                self.for_loop(label.as_deref(), pat, iter, body, env, loc).of_statement()
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
                self.cast_as((val, value), ty, env, loc)
            }
            ExprKind::Ref(_, inner) => match self.place(inner, env) {
                Some(place) => Val::Ref(Rc::new(place)),
                None => self.expr(inner, env),
            },
            ExprKind::TileLayout(parts) => self.tile_layout(parts, env, loc),
            ExprKind::Ptx(call) => self.ptx(call, env, loc),
            ExprKind::Said { saying, operands, condition, text } => {
                let said = Said { saying: *saying, condition, text, loc };
                self.said(said, operands, env).unwrap_or(Val::Error)
            }
        }
    }

    /// `target += value` and the like
    fn assign_op(
        &mut self,
        op: Binary,
        target: &Expr,
        value: &Expr,
        env: Env,
        loc: Loc,
    ) -> Option<Val> {
        if op == Binary::Add
            && let ExprKind::Call(callee, args) = &value.kind
            && callee.name() == Some("dot")
            && let [a, b] = &args[..]
            && let [Some(acc), Some(a), Some(b)] = [target.text(), a.text(), b.text()]
        {
            let diagnostic = Code::ArgumentCount
                .at(loc, "`dot` takes 3 arguments")
                .compare("arguments", 3, 2)
                .why("the tensor cores add each product to an accumulator")
                .help(format!("{acc} = dot({a}, {b}, {acc})"));
            return self.refuse(diagnostic);
        }
        let right = self.plain_expr(value, env);
        self.check_assigned(target, &right, env, value.loc)?;
        if self.is_element_of_tensor(target, env) && self.assigns_element(target, &right, env) {
            return None;
        }
        let left = self.plain_expr(target, env);
        if matches!(left, Val::Struct(_))
            && let Some(place) = self.place(target, env)
        {
            let operands = ((place, &left), (&right, value));
            if let Some(val) = self.own_assignment(op, operands.0, operands.1, env, loc) {
                return Some(val);
            }
        }
        self.literal_fits(op, (target, &left), (value, &right))?;
        let val = self.binary(op, &left, &right, loc);
        self.assign(target, (val, value.loc), env);
        Some(Val::Unit)
    }

    /// Reports `a ** b`, which Rust reads as `a * *b`.
    fn power(&mut self, a: &Expr, power: &Expr, loc: Loc) -> Val {
        let of = a.operand_text();
        let number =
            if let ExprKind::Lit(Literal::Int(n, _)) = &power.kind { Some(n) } else { None };
        let help = number.and_then(|n| Some(format!("{}.powi({n})", of?)));
        self.report(
            Code::Unsupported
                .at(loc, "`**` is no operator of Rust")
                .why("`powi` takes a power with a constant exponent")
                .help_if(help),
        )
    }

    /// `value as T`
    fn cast_as(&mut self, (val, expr): (Val, &Expr), ty: &TypeExpr, env: Env, loc: Loc) -> Val {
        let val = val.number_of_enum().map(|(number, _)| number.clone()).unwrap_or(val);
        let to = self.resolve(ty, env);
        if matches!(to, Ty::Infer) {
            return val;
        }
        let Ty::Scalar(num) = to else {
            let name = self.type_name(&to);
            let diagnostic = Code::Kind.at(ty.loc, format!("`as` does not convert to `{name}`"));
            let diagnostic = diagnostic.compare("", "a type of numbers", format!("`{name}`"));
            let (Ty::Ptr(num), Some(text)) = (&to, expr.operand_text()) else {
                return self.report(diagnostic);
            };
            let dtype = self.cells.name(*num);
            return self.report(
                diagnostic
                    .why("an address keeps the type of its elements; `bitcast` takes the bits of an element as another type")
                    .help(format!("load({text} + i).bitcast::<{dtype}>()"))
                    .exemplified(),
            );
        };
        if let Val::Value(value) = &val
            && !self.is_scalar(*value)
        {
            let (name, actual) = (self.cells.name(num), self.describe(&val));
            let plain = self.cells.known(num).filter(|dtype| dtype.has_arithmetic());
            if self.has_one_element(*value)
                && plain.is_some()
                && let Some(text) = expr.operand_text()
            {
                let own = self.cells.known(self.num(*value)) == plain;
                let item = format!("{text}.item()");
                return self.report(
                    Code::Kind
                        .at(loc, "`as` converts scalars")
                        .compare("", "a scalar", actual)
                        .why("`item` gives the element of a tile that has only one as a scalar")
                        .help(if own { item } else { format!("{item} as {name}") }),
                );
            }
            return self.report(
                Code::Kind
                    .at(loc, "`as` converts scalars")
                    .compare("", "a scalar", actual)
                    .why("Rust's `as` converts one number; `cast` converts every element of a tile")
                    .help_if(expr.operand_text().map(|text| format!("{text}.cast::<{name}>()"))),
            );
        }
        self.cast(&val, num, loc).unwrap_or(Val::Error)
    }

    fn literal(&mut self, lit: &Literal, loc: Loc) -> Val {
        match lit {
            Literal::Bool(value) => Val::Const(Const::Bool(*value), Num::Known(Dtype::Bool)),
            Literal::Int(value, suffix) => {
                let (class, literal) = (Class::Int, Const::Int(*value));
                let num = self.literal_type(suffix.as_deref(), class, literal, loc);
                num.map_or(Val::Error, |num| self.settle_const(Const::Int(*value), num, loc))
            }
            Literal::Float(value, suffix) => {
                let (class, literal) = (Class::Float, Const::Float(*value));
                let num = self.literal_type(suffix.as_deref(), class, literal, loc);
                num.map_or(Val::Error, |num| self.settle_const(Const::Float(*value), num, loc))
            }
            Literal::Str(text) => Val::Str(Rc::from(text.as_str())),
        }
    }

    fn literal_type(
        &mut self,
        suffix: Option<&str>,
        class: Class,
        value: Const,
        loc: Loc,
    ) -> Option<Num> {
        match suffix {
            None => Some(self.cells.literal(class, value)),
            Some("usize" | "isize") => self.refuse(
                Code::DtypeRefused
                    .at(loc, "kernels count in `i32`")
                    .why("indices, extents and integer const generics are `i32` in kernels"),
            ),
            Some(suffix) => Dtype::from_name(suffix).map(Num::Known).or_else(|| {
                let headline = format!("`{suffix}` is not a type that kernels know");
                let number = match value {
                    Const::Int(value) if class == Class::Int => value.to_string(),
                    Const::Int(value) => format!("{value}.0"),
                    Const::Float(value) => format!("{value:?}"),
                    Const::Bool(value) => value.to_string(),
                };
                self.refuse(
                    Code::DtypeRefused
                        .at(loc, headline)
                        .why("a number without a type takes that of what it meets")
                        .help(number),
                )
            }),
        }
    }

    fn unary_expr(&mut self, op: UnOp, a: &Expr, env: Env, loc: Loc) -> Val {
        use crate::ir::Unary;
        let given = self.expr(a, env);
        let reference = matches!(given, Val::Ref(_));
        let val = self.plain(given.clone());
        let operand = Operand { val: &val, reference: Some(&given).filter(|_| reference), expr: a };
        if let Some(val) = self.own_unary(op, operand, env, loc) {
            return val;
        }
        let address = |value| self.is_ptr(value) && self.is_scalar(value);
        match op {
            UnOp::Deref if !reference && val.value().is_some_and(address) => self.report(
                Code::NotAFunction.at(loc, "an address is read with `load`")
                    .why("an address is a position in global memory, counted in elements, and not a Rust reference")
                    .help(format!("load({})", a.text().as_deref().unwrap_or("p"))),
            ),
            UnOp::Deref => val,
            UnOp::Neg => self.unary(Unary::Neg, &val, loc).unwrap_or(Val::Error),
            UnOp::Not => self.unary(Unary::Not, &val, loc).unwrap_or(Val::Error),
        }
    }

    fn binary_expr(&mut self, op: BinOp, a: &Expr, b: &Expr, env: Env, loc: Loc) -> Val {
        match op {
            BinOp::AndAnd => self.short_circuit(true, a, b, env, loc),
            BinOp::OrOr => self.short_circuit(false, a, b, env, loc),
            BinOp::Arith(op) => {
                if op == Binary::Mul
                    && let ExprKind::Unary(UnOp::Deref, power) = &b.kind
                    && matches!(power.kind, ExprKind::Lit(_) | ExprKind::Path(_))
                    && !matches!(self.expr(power, env), Val::Ref(_))
                {
                    return self.power(a, power, loc);
                }
                let (left, left_ref) = self.operand(a, env);
                let (right, right_ref) = self.operand(b, env);
                let operands = [
                    Operand { val: &left, reference: left_ref.as_ref(), expr: a },
                    Operand { val: &right, reference: right_ref.as_ref(), expr: b },
                ];
                if let Some(val) = self.own_binary(op, operands, env, loc) {
                    return val;
                }
                let structs = matches!(left, Val::Struct(_)) || matches!(right, Val::Struct(_));
                if structs && !left.is_absent() && !right.is_absent() {
                    return self.no_operator(op, operands, loc);
                }
                if !(self.is_operand(&left, a, &right) & self.is_operand(&right, b, &left)) {
                    return Val::Error;
                }
                if self.refuse_unreckoned(
                    crate::elaborate::tiles::arith::symbol(op),
                    &[&left, &right],
                    loc,
                ) || self.literal_fits(op, (a, &left), (b, &right)).is_none()
                {
                    return Val::Error;
                }
                self.binary(op, &left, &right, loc)
            }
            BinOp::Compare(op) => self.comparison(op, a, b, env, loc),
        }
    }

    /// `a < b` and so on.
    fn comparison(&mut self, op: Compare, a: &Expr, b: &Expr, env: Env, loc: Loc) -> Val {
        if let (true, ExprKind::Path(path)) = (a.is_matched(), &b.kind)
            && let [only] = &path.segments[..]
            && let Some(super::scope::Binding::Var(_)) = self.scopes.lookup(env, &only.name)
        {
            return self.report(
                Code::Kind
                    .at(
                        b.loc,
                        format!("`{}` is a variable, and in a pattern a new name", only.name),
                    )
                    .why("a pattern compares with constants; a guard compares with variables")
                    .help(format!("n if n == {}", only.name)),
            );
        }
        let (left, left_ref) = self.operand(a, env);
        let (right, right_ref) = self.operand(b, env);
        let operands = [
            Operand { val: &left, reference: left_ref.as_ref(), expr: a },
            Operand { val: &right, reference: right_ref.as_ref(), expr: b },
        ];
        if let Some(val) = self.own_comparison(op, operands, env, loc) {
            return val;
        }
        let (left, right) = match (left.number_of_enum(), right.number_of_enum()) {
            (Some((x, of)), Some((y, other))) if Arc::ptr_eq(of, other) => (x.clone(), y.clone()),
            _ => (left, right),
        };
        for (side, expr) in [(&left, a), (&right, b)] {
            if let Val::Value(value) = side
                && (matches!(self.ty(*value), Type::Tile(..)) || self.is_point(*value))
            {
                if self.is_point(*value) {
                    self.wants_scalar(*value, "comparison operators do not take tiles", expr.loc);
                    return Val::Error;
                }
                if expr.is_matched() {
                    return self.report(
                        Code::Kind
                            .at(expr.loc, "`match` does not take tiles")
                            .compare("", "a scalar", self.describe(side))
                            .why("one arm is taken for the whole block; an element chooses with a mask")
                            .help("select(x.eq(0), a, b)")
                            .lacks(Some(Missing {
                                what: Lacking::Selections,
                                after: expr.loc,
                                before: expr.loc,
                                spot: Spot::Before,
                            })),
                    );
                }
                // A scalar on the left has no such method: the comparison is turned round.
                let turned = expr.loc != a.loc;
                let (tile, other) = if turned { (b, a) } else { (a, b) };
                let method = match (op, turned) {
                    (Compare::Lt, false) | (Compare::Gt, true) => "lt",
                    (Compare::Le, false) | (Compare::Ge, true) => "le",
                    (Compare::Gt, false) | (Compare::Lt, true) => "gt",
                    (Compare::Ge, false) | (Compare::Le, true) => "ge",
                    (Compare::Eq, _) => "eq",
                    (Compare::Ne, _) => "ne",
                };
                let both = [&left, &right].map(|side| match side.value() {
                    Some(value) => self.is_scalar(value) || self.has_one_element(value),
                    None => matches!(side, Val::Const(..)),
                });
                let items = [(&left, a), (&right, b)].map(|(side, expr)| {
                    let tile = side.value().is_some_and(|value| self.has_one_element(value));
                    expr.operand_text().map(|text| if tile { text + ".item()" } else { text })
                });
                let mut diagnostic = Code::Kind.at(loc, "comparison operators do not take tiles")
                        .compare("", "a scalar", self.describe(side))
                        .why("Rust's comparison operators give one `bool`; comparing tiles gives a mask, one `bool` for each element")
                        .help(format!(
                            "{}.{method}({})",
                            tile.operand_text().as_deref().unwrap_or("x"),
                            other.text().as_deref().unwrap_or("y")
                        ));
                if let ([true, true], [Some(x), Some(y)]) = (both, items) {
                    // Which of the two is meant depends on what is around it: see `own_code`.
                    let symbol = match op {
                        Compare::Lt => "<",
                        Compare::Le => "<=",
                        Compare::Gt => ">",
                        Compare::Ge => ">=",
                        Compare::Eq => "==",
                        Compare::Ne => "!=",
                    };
                    diagnostic.example = Some(format!("{x} {symbol} {y}"));
                }
                return self.report(diagnostic);
            }
        }
        self.compare(op, &left, &right, loc).unwrap_or(Val::Error)
    }

    /// Whether a literal is of the type of the other operand; what is wrong is said at the literal.
    fn literal_fits(
        &mut self,
        op: Binary,
        (a, left): (&Expr, &Val),
        (b, right): (&Expr, &Val),
    ) -> Option<()> {
        use crate::ir::Binary;
        let literal = |mut expr: &Expr| {
            if let ExprKind::Unary(UnOp::Neg, inner) = &expr.kind {
                expr = inner;
            }
            matches!(expr.kind, ExprKind::Lit(_))
        };
        let at = match (literal(a), literal(b)) {
            (true, false) => a.loc,
            (false, true) => b.loc,
            _ => return Some(()),
        };
        let num = |val: &Val| {
            let value = val.value();
            let has = value.is_none_or(|value| self.ty(value).elem().is_some());
            let num = self.num_of(val).filter(|_| has)?;
            Some(((value, num), value.is_some_and(|value| self.is_ptr(value))))
        };
        let (Some((x, moved)), Some((y, address))) = (num(left), num(right)) else {
            return Some(());
        };
        if address {
            return Some(());
        }
        if moved && self.cells.is_float(y.1) && literal(b) {
            let actual = self.cells.name(y.1);
            let mut diagnostic = Code::DtypeRefused
                .at(at, "an address moves by whole elements")
                .compare("element type", "`i32` or `i64`", format!("`{actual}`"));
            if let Some(Const::Float(value)) = self.cells.literal_of(y.1)
                && value.fract() == 0.0
            {
                diagnostic = diagnostic.help(format!("{value:.0}"));
            }
            return self.refuse(diagnostic);
        }
        let symbol = crate::elaborate::tiles::arith::symbol(op);
        if moved || matches!(op, Binary::Shl | Binary::Shr) || self.is_mixed([x.1, y.1], symbol) {
            return Some(());
        }
        let (of_literal, of_other) = if at == a.loc { (a, y.1) } else { (b, x.1) };
        if let Some(help) = self.without_suffix(of_literal, of_other) {
            let nums = [x.1, y.1].map(|num| self.cells.name(num));
            return self.refuse(
                Code::DtypeMismatch
                    .at(at, format!("the operands of {symbol} have different element types"))
                    .compare(
                        "",
                        "one element type on both sides",
                        format!("{} and {}", nums[0], nums[1]),
                    )
                    .why("a literal without a suffix takes the type of the other operand")
                    .help(help),
            );
        }
        self.unify_operands(x, y, symbol, at).map(|_| ())
    }

    /// A literal whose suffix names another type than the other operand has, as one of that type.
    fn without_suffix(&self, literal: &Expr, other: Num) -> Option<String> {
        let (sign, literal) = if let ExprKind::Unary(UnOp::Neg, inner) = &literal.kind {
            ("-", &**inner)
        } else {
            ("", literal)
        };
        let dtype = self.cells.known(other)?;
        let ExprKind::Lit(literal) = &literal.kind else { return None };
        #[expect(clippy::cast_precision_loss, reason = "larger literals stay as they are")]
        let (value, suffix, whole) = match literal {
            Literal::Float(value, Some(suffix)) => (*value, suffix, false),
            Literal::Int(value, Some(suffix)) => (*value as f64, suffix, true),
            Literal::Float(_, None)
            | Literal::Int(_, None)
            | Literal::Bool(_)
            | Literal::Str(_) => {
                return None;
            }
        };
        if *suffix == dtype.name() || value.abs() > 1e15 {
            return None;
        }
        if matches!(dtype, Dtype::F32 | Dtype::F64) {
            return Some(format!("{sign}{value:?}"));
        }
        if dtype.is_half() {
            return Some(format!("{}::of({sign}{value:?})", dtype.name()));
        }
        (dtype.is_int() && whole).then(|| format!("{sign}{value:.0}"))
    }

    fn range_expr(&mut self, from: Option<&Expr>, to: Option<&Expr>, env: Env, loc: Loc) -> Val {
        let mut end = |end: Option<&Expr>| end.map_or(Val::Unit, |end| self.plain_expr(end, env));
        let (from, to) = (end(from), end(to));
        let step = Val::Const(Const::Int(1), self.cells.open(Class::Int));
        Val::Range(Rc::new(RangeVal { from, to, step, unroll: false, stages: None, loc }))
    }

    /// Reports a range that has no beginning or no end, which only a slice can do without.
    pub(crate) fn has_both_ends(&mut self, range: &RangeVal) -> Option<()> {
        if !matches!((&range.from, &range.to), (Val::Unit, _) | (_, Val::Unit)) {
            return Some(());
        }
        let end = |val: &Val, other: &str| {
            if let Val::Unit = val { Some(other.to_owned()) } else { self.written(val) }
        };
        let help = end(&range.from, "0").zip(end(&range.to, "n"));
        self.refuse(
            Code::Unsupported
                .at(range.loc, "a loop counts from one end of a range to the other")
                .compare("", "`a..b`", "a range without both ends")
                .help_if(help.map(|(from, to)| format!("{from}..{to}"))),
        )
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

    /// An aggregate, unless it holds more values than anything could use.
    pub(crate) fn bounded(&mut self, val: Val, loc: Loc) -> Val {
        let size = val.size();
        if size <= crate::elaborate::MAX_ELEMENTS {
            return val;
        }
        self.report(
            Code::Unbounded
                .at(loc, "an aggregate of too many values")
                .compare("values", format!("at most {}", crate::elaborate::MAX_ELEMENTS), size)
                .why("the values in tuples, arrays and structs are registers"),
        )
    }

    /// The length of an array whose elements hold `size` values each, or a report.
    pub(crate) fn array_length(&mut self, length: i128, size: usize, loc: Loc) -> Option<usize> {
        let limit = crate::elaborate::MAX_ELEMENTS / size.max(1);
        let fits = usize::try_from(length).ok().filter(|length| *length <= limit);
        if fits.is_none() {
            self.report(
                Code::Overflow
                    .at(loc, format!("an array cannot have {length} elements"))
                    .compare("elements", format!("0 to {limit}"), length)
                    .why("the elements of an array are registers"),
            );
        }
        fits
    }
}
