//! Branches: both sides are built from the same variables, and joined where they differ.

use super::{
    scope::{Var, VarId},
    value::Val,
};
use crate::{
    diag::{Code, Diagnostic, Lacking, Missing, Spot},
    elaborate::{
        Builder, Env,
        tiles::arith::{LEFT, symbol},
    },
    ir::{
        Binary, Const, Elem, ElementwiseOp, Op, Region, SourceOp, Stmt, StmtKind, Terminator, Type,
        Value,
    },
    loc::Loc,
    syntax::{self, Block, Expr, ExprKind},
};

/// A leaf on both sides: of a variable, or of the branch's own value.
type Pair = (Option<(VarId, usize)>, Val, Val);

/// A choice between two values, or between two assignments to one variable, element by element.
fn chosen_by_element(condition: &Expr, then: &Block, otherwise: Option<&Expr>) -> Option<String> {
    let otherwise = match otherwise.map(|otherwise| &otherwise.kind) {
        Some(ExprKind::Block(block)) => Some(block),
        Some(_) => return None,
        None => None,
    };
    let condition = condition.text()?;
    if let Some((to, value)) = assigned(then) {
        let kept = match otherwise {
            Some(block) => assigned(block).filter(|(other, _)| *other == to)?.1,
            None => to.clone(),
        };
        return Some(format!("{to} = select({condition}, {value}, {kept});"));
    }
    let only = |block: &Block| block.tail.as_deref().filter(|_| block.stmts.is_empty())?.text();
    Some(format!("select({condition}, {}, {})", only(then)?, only(otherwise?)?))
}

/// The variable to which a block assigns, and does no more, and the value.
fn assigned(block: &Block) -> Option<(String, String)> {
    let (([syntax::Stmt::Expr(only)], None) | ([], Some(only))) =
        (&block.stmts[..], block.tail.as_deref())
    else {
        return None;
    };
    let is_name = |to: &Expr| matches!(&to.kind, ExprKind::Path(path) if path.only().is_some());
    if let ExprKind::Assign(to, value) = &only.kind
        && is_name(to)
    {
        return Some((to.text()?, value.text()?));
    }
    let ExprKind::AssignOp(op, to, value) = &only.kind else { return None };
    let name = to.text().filter(|_| is_name(to))?;
    let value = format!("{name} {} {}", symbol(*op).trim_matches('`'), value.operand_text()?);
    Some((name, value))
}

impl Builder<'_> {
    /// `if c { a } else { b }`
    pub(crate) fn branch(
        &mut self,
        condition: &Expr,
        then: &Block,
        otherwise: Option<&Expr>,
        env: Env,
        loc: Loc,
    ) -> Val {
        let mut val = self.expr(condition, env);
        if matches!(self.ty_of(&self.plain(val.clone())), Some(Type::Tile(..)))
            && let Some(help) = chosen_by_element(condition, then, otherwise)
        {
            let plain = self.plain(val);
            let mut diagnostic = self.no_bool(&plain, loc).help(help);
            (diagnostic.example, diagnostic.missing) = (None, None);
            self.report(diagnostic);
            val = Val::Error;
        }
        self.branch_on(&val, condition.loc, loc, &mut |b| b.block(then, env), &mut |b| {
            otherwise.map_or(Val::Unit, |e| b.expr(e, env))
        })
    }

    /// The condition of a branch as an IR value, or as a constant.
    pub(crate) fn condition(&mut self, val: &Val, loc: Loc) -> Option<Result<bool, Value>> {
        let plain = self.plain(val.clone());
        if let Val::Const(Const::Bool(known), _) = plain {
            return Some(Ok(known));
        }
        if plain.is_absent() {
            return None;
        }
        if let Val::Value(value) = plain
            && self.is_scalar(value)
            && *self.ty(value) == Type::scalar(crate::ir::Dtype::Bool)
        {
            return Some(Err(value));
        }
        let diagnostic = self.no_bool(&plain, loc);
        let diagnostic = self.help_item(diagnostic, val);
        self.refuse(diagnostic)
    }

    /// The message about a condition that is no scalar `bool`.
    fn no_bool(&self, plain: &Val, loc: Loc) -> Diagnostic {
        let mut diagnostic = Code::Kind
            .at(loc, "this condition is not one `bool` for the whole block")
            .compare("", "a scalar (bool)", self.describe(plain));
        if matches!(self.ty_of(plain), Some(Type::Tile(..))) {
            let mask = self.written(plain);
            diagnostic = diagnostic
                .why("all threads of a block take the same branch; a mask chooses element by element")
                .help(format!("select({}, a, b)", mask.as_deref().unwrap_or("mask")))
                .exemplified()
                .lacks(Some(Missing {
                    what: Lacking::Mask(self.ty_of(plain).map_or(1, |ty| ty.shape().len())),
                    after: loc,
                    before: loc,
                    spot: Spot::Before,
                }));
        } else if self.is_number(plain)
            && let Some(num) = self.num_of(plain)
        {
            let zero = self.whole_number("0", num);
            diagnostic = diagnostic
                .why("a number is not a truth value in Rust: a comparison makes one of it")
                .help(format!("{LEFT} != {zero}"));
        }
        diagnostic
    }

    pub(crate) fn branch_on(
        &mut self,
        condition: &Val,
        condition_loc: Loc,
        loc: Loc,
        then: &mut dyn FnMut(&mut Self) -> Val,
        otherwise: &mut dyn FnMut(&mut Self) -> Val,
    ) -> Val {
        let condition = match self.condition(condition, condition_loc) {
            Some(Ok(true)) => return then(self),
            Some(Ok(false)) => return otherwise(self),
            Some(Err(value)) => {
                self.note_use(value, loc, condition_loc);
                value
            }
            None => {
                // The branches are still looked at, for their own problems.
                let mut sides: [&mut dyn FnMut(&mut Self) -> Val; 2] = [then, otherwise];
                for side in &mut sides {
                    self.look_at(&mut |builder| {
                        side(builder);
                    });
                }
                return Val::Error;
            }
        };
        // Each side begins with the variables as they are, and what they are after it is compared.
        if !self.steps_of(self.scopes.vars.len() / 8, loc) {
            return Val::Error;
        }
        let before = self.scopes.vars.clone();
        let (then_region, then_end, then_val) = self.side(then);
        let then_vars = std::mem::replace(&mut self.scopes.vars, before.clone());
        let (else_region, else_end, else_val) = self.side(otherwise);
        let else_vars = std::mem::replace(&mut self.scopes.vars, before);
        self.join(
            condition,
            loc,
            [
                (then_region, then_end, then_val, then_vars),
                (else_region, else_end, else_val, else_vars),
            ],
        )
    }

    pub(crate) fn side(&mut self, body: &mut dyn FnMut(&mut Self) -> Val) -> (Region, bool, Val) {
        let outer = std::mem::replace(&mut self.terminated, false);
        self.regions.push(Region::default());
        self.conditional += 1;
        let val = body(self);
        self.conditional -= 1;
        let ended = std::mem::replace(&mut self.terminated, outer);
        (self.regions.pop().expect("pushed above"), ended, val)
    }

    /// Evaluates what is not compiled, for its own problems. What it gives to variables is not known after it.
    ///
    /// Something was reported before, so that a look which would take too long is left out without a word.
    pub(crate) fn look_at(&mut self, body: &mut dyn FnMut(&mut Self)) {
        if !self.steps_left(self.scopes.vars.len() / 8) {
            return;
        }
        let emitted = self.emitted;
        let before = self.scopes.vars.clone();
        let stops: Vec<_> = self.frames.iter().map(|frame| frame.stop).collect();
        self.only_looking += 1;
        self.side(&mut |builder| {
            body(builder);
            Val::Unit
        });
        self.only_looking -= 1;
        self.emitted = emitted;
        for (frame, stop) in self.frames.iter_mut().zip(stops) {
            frame.stop = stop;
        }
        for (var, old) in self.scopes.vars.iter_mut().zip(before) {
            if !var.val.same(&old.val) {
                let unset = matches!(old.val, Val::Unit);
                *var = Var { val: Val::Error, mutable: old.mutable || unset, ..old };
            }
        }
    }

    fn join(
        &mut self,
        condition: Value,
        loc: Loc,
        sides: [(Region, bool, Val, Vec<Var>); 2],
    ) -> Val {
        let [
            (mut then, then_end, then_val, then_vars),
            (mut otherwise, else_end, else_val, else_vars),
        ] = sides;
        if then_end || else_end {
            let mut results = Vec::new();
            let val = match (then_end, else_end) {
                (true, true) => Val::Never,
                (true, false) => {
                    self.go_on(&mut otherwise, else_vars, &else_val, &mut results, loc)
                }
                _ => self.go_on(&mut then, then_vars, &then_val, &mut results, loc),
            };
            self.push(StmtKind::If { condition, then, otherwise, results }, loc);
            self.terminated |= then_end && else_end;
            return val;
        }
        // Variables first, then the value of the branch itself.
        let mut pairs = self.changed(&then_vars, &else_vars, loc);
        let value_at = pairs.len();
        let mut value_leaves = Vec::new();
        if !then_val.same(&else_val) {
            match zip_leaves(&then_val, &else_val) {
                Some(leaves) => {
                    for (leaf, (x, y)) in leaves.into_iter().enumerate() {
                        if !x.same(&y) {
                            value_leaves.push(leaf);
                            pairs.push((None, x, y));
                        }
                    }
                }
                None => {
                    self.differing(&then_val, &else_val, loc);
                }
            }
        }
        let mut then_out = Vec::new();
        let mut else_out = Vec::new();
        let mut results = Vec::new();
        let mut outs = Vec::new();
        for (target, x, y) in &pairs {
            let a = self.in_region(&mut then, x, loc);
            let b = self.in_region(&mut otherwise, y, loc);
            let merged = a.zip(b).and_then(|(a, b)| Some((a, b, self.merged(a, b, loc)?)));
            let val = match merged {
                Some((a, b, out)) => {
                    then_out.push(a);
                    else_out.push(b);
                    results.push(out);
                    Val::Value(out)
                }
                None => Val::Error,
            };
            if let Some(target) = target {
                self.set_leaf(*target, val.clone());
            }
            outs.push(val);
        }
        then.end = Terminator::Yield(then_out);
        otherwise.end = Terminator::Yield(else_out);
        self.push(StmtKind::If { condition, then, otherwise, results }, loc);
        if value_leaves.is_empty() {
            return then_val;
        }
        let mut leaves: Vec<_> = then_val.leaves().into_iter().cloned().collect();
        for (leaf, out) in value_leaves.into_iter().zip(outs.into_iter().skip(value_at)) {
            leaves[leaf] = out;
        }
        then_val.with_leaves(&mut leaves.into_iter())
    }

    /// What variables hold after one side of a branch and after the other, if that differs. The others keep what they
    /// have in both.
    fn changed(&mut self, then_vars: &[Var], else_vars: &[Var], loc: Loc) -> Vec<Pair> {
        let mut pairs: Vec<Pair> = Vec::new();
        for index in 0..self.scopes.vars.len() {
            let (a, b) = (&then_vars[index].val, &else_vars[index].val);
            if a.same(b) {
                self.scopes.vars[index].val = a.clone();
                continue;
            }
            let id = VarId(u32::try_from(index).expect("checked when declared"));
            let Some(leaves) = zip_leaves(a, b) else {
                match self.scopes.name_of(id).map(str::to_owned) {
                    Some(name) if matches!(a, Val::Unit) != matches!(b, Val::Unit) => {
                        self.unset(&format!("`{name}`"), loc);
                    }
                    _ => self.differing(a, b, loc),
                }
                self.scopes.vars[index].val = Val::Error;
                continue;
            };
            self.scopes.vars[index].val = a.clone();
            for (leaf, (x, y)) in leaves.into_iter().enumerate() {
                if !x.same(&y) {
                    pairs.push((Some((id, leaf)), x, y));
                }
            }
        }
        pairs
    }

    /// Only one side comes back: what it made and left in variables or as its value becomes results of the branch.
    pub(crate) fn go_on(
        &mut self,
        region: &mut Region,
        vars: Vec<Var>,
        val: &Val,
        results: &mut Vec<Value>,
        loc: Loc,
    ) -> Val {
        let mut out = Vec::new();
        for (index, var) in vars.into_iter().take(self.scopes.vars.len()).enumerate() {
            let before = self.scopes.vars[index].val.clone();
            if !var.val.same(&before) {
                self.scopes.vars[index].val =
                    self.escaping(&var.val, Some(&before), &mut out, results, loc);
            }
        }
        let val = self.escaping(val, None, &mut out, results, loc);
        region.end = Terminator::Yield(out);
        val
    }

    /// The same value outside the region: each run-time leaf that was not there before is passed out.
    fn escaping(
        &mut self,
        val: &Val,
        before: Option<&Val>,
        out: &mut Vec<Value>,
        results: &mut Vec<Value>,
        loc: Loc,
    ) -> Val {
        let known = before.map_or(Vec::new(), Val::leaves);
        let mut leaves: Vec<_> = val.leaves().into_iter().cloned().collect();
        for leaf in &mut leaves {
            if let Val::Value(value) = *leaf
                && !known.iter().any(|old| old.same(leaf))
            {
                let result = self.new_like(value, loc);
                out.push(value);
                results.push(result);
                *leaf = Val::Value(result);
            }
        }
        val.with_leaves(&mut leaves.into_iter())
    }

    /// A value of the joined type, or a report.
    pub(crate) fn merged(&mut self, a: Value, b: Value, loc: Loc) -> Option<Value> {
        let (ta, tb) = (self.ty(a).clone(), self.ty(b).clone());
        let shapes = ta.shape() == tb.shape()
            && self.is_ptr(a) == self.is_ptr(b)
            && self.is_point(a) == self.is_point(b)
            && match (&ta, &tb) {
                (Type::Shared(x), Type::Shared(y)) => x == y,
                (Type::TensorMemory(x), Type::TensorMemory(y)) => x == y,
                (Type::Barrier(x), Type::Barrier(y)) => x == y,
                (Type::Shared(_) | Type::Barrier(_) | Type::TensorMemory(_), _)
                | (_, Type::Shared(_) | Type::Barrier(_) | Type::TensorMemory(_)) => false,
                _ => true,
            };
        if !shapes || self.cells.unify(self.num(a), self.num(b)).is_err() {
            let (x, y) = (Val::Value(a), Val::Value(b));
            self.differing(&x, &y, loc);
            return None;
        }
        let out = self.new_like(a, loc);
        Some(out)
    }

    /// A literal as a tile like another one.
    fn spread(&self, tile: &Val, literal: &Val) -> Option<String> {
        let ty = self.ty(tile.value()?);
        let (Type::Tile(Elem::Number(_), shape), num) = (ty, self.num_of(literal)?) else {
            return None;
        };
        let literal = match (literal, literal.value()) {
            (Val::Const(value, _), _) => *value,
            (_, Some(value)) if self.is_scalar(value) => self.cells.literal_of(num)?,
            (_, _) => return None,
        };
        let dtype = self.cells.settled(self.num(tile.value()?));
        Some(self.full_of(shape, &Val::Const(literal, num), dtype))
    }

    pub(crate) fn differing(&mut self, a: &Val, b: &Val, loc: Loc) {
        if a.is_absent() || b.is_absent() {
            return;
        }
        let named = |val: &Val| {
            if let Val::Tensor(param) = val {
                format!("the tensor `{}`", self.params[*param as usize].name)
            } else if let Val::Slice(slice) = val {
                format!("a slice of `{}`", self.params[slice.param as usize].name)
            } else if let Val::Optional(optional) = val {
                format!("the parameter `{}`", optional.name)
            } else if let Val::View(view) = val {
                let name = &self.params[view.param as usize].name;
                format!("a window of `{name}`, of extents {:?}", view.shape)
            } else {
                self.describe(val)
            }
        };
        if matches!(a, Val::Unit) != matches!(b, Val::Unit) {
            return self.unset("this", loc);
        }
        let (x, y) = (named(a), named(b));
        let memory = |val: &Val| self.memory_of(val.value()?);
        if let (Some(x), Some(y)) = (self.allocation(a), self.allocation(b))
            && x != y
            && memory(a) == memory(b)
        {
            let (memory, one, help) = if let Val::Value(value) = a
                && self.memory_of(*value) == Some("tensor")
            {
                let dtype = self.cells.settled(self.num(*value)).name();
                let shape = self.ty(*value).shape();
                let [rows, columns] = [2, 1].map(|from_end| shape[shape.len() - from_end]);
                let help =
                    format!("let tiles = tmem::<{dtype}>([2, {rows}, {columns}]); // and tiles[i]");
                ("tensor", "tile of several", help)
            } else {
                let help = "let ring = shared::<f32>([2, 64, 64]); // and ring[i]".to_owned();
                ("shared", "buffer of one ring", help)
            };
            self.report(
                Code::BranchTypes.at(loc, "different paths choose different allocations")
                    .compare("", "one allocation", format!("{x} or {y}"))
                    .why(format!("the address of {memory} memory is fixed at compile time; the {one} can be chosen at run time"))
                    .help(help),
            );
            return;
        }
        let in_memory = |val: &Val| {
            val.tensor().is_some() || matches!(val, Val::View(_)) || memory(val).is_some()
        };
        let why = if in_memory(a) && in_memory(b) {
            "the memory that a variable stands for is fixed at compile time; coordinates and indices may differ"
        } else {
            "after a branch or an iteration of a loop, a variable has one type and one shape"
        };
        let spread = self.spread(a, b).or_else(|| self.spread(b, a));
        self.report(
            Code::BranchTypes
                .at(loc, "the paths through this code give values of different types")
                .compare("", x, y)
                .why(why)
                .help_if(spread)
                .exemplified(),
        );
    }

    /// Reports what some of the ways through a branch leave without a value.
    fn unset(&mut self, what: &str, loc: Loc) {
        self.report(
            Code::BranchTypes
                .at(loc, format!("{what} has a value only on some paths"))
                .compare("", "a value on every path", "none on one path")
                .why("after a branch, a variable has one value of one type and shape")
                .help("else { .. }"),
        );
    }

    /// The allocation that a value is a window of: the name of the variable that holds it, or its place among those of its memory.
    fn allocation(&self, val: &Val) -> Option<String> {
        let root = |val: &Val| match self.ty_of(val)? {
            Type::Shared(shared) => Some(("shared", shared.root.into_raw().into_u32())),
            Type::TensorMemory(window) => Some(("tensor", window.root.into_raw().into_u32())),
            Type::Scalar(_) | Type::Tile(..) | Type::Barrier(_) | Type::Error => None,
        };
        let wanted = root(val)?;
        let vars = &self.scopes.vars;
        let holder = (0u32..).zip(vars).find(|(_, var)| root(&var.val) == Some(wanted));
        let name = holder.and_then(|(index, _)| self.scopes.name_of(VarId(index)));
        let place = wanted.1 + 1;
        Some(name.map_or_else(|| format!("allocation {place}"), |name| format!("`{name}`")))
    }

    /// A value made at the end of a region that was closed already.
    pub(crate) fn in_region(&mut self, region: &mut Region, val: &Val, loc: Loc) -> Option<Value> {
        let outer = std::mem::replace(&mut self.terminated, false);
        self.regions.push(std::mem::take(region));
        let value = self.value(val, loc);
        *region = self.regions.pop().expect("pushed above");
        self.terminated = outer;
        value
    }

    /// Reports `&&` and `||` between masks.
    fn joins_masks(&mut self, and: bool, side: &Val, [a, b]: [&Expr; 2], loc: Loc) -> bool {
        let Val::Value(value) = self.plain(side.clone()) else { return false };
        if !matches!(self.ty(value), Type::Tile(..)) {
            return false;
        }
        let (written, instead) = if and { ("&&", "&") } else { ("||", "|") };
        let [left, right] = [(a, "a"), (b, "b")]
            .map(|(side, other)| side.operand_text().unwrap_or_else(|| other.to_owned()));
        self.report(
            Code::Kind
                .at(loc, format!("`{written}` does not join masks"))
                .compare("", "a scalar (bool)", self.describe(side))
                .why("Rust's `&&` and `||` take two `bool`; `&` and `|` combine masks element by element")
                .help(format!("{left} {instead} {right}")),
        );
        true
    }

    /// `a && b`, `a || b`
    pub(crate) fn short_circuit(
        &mut self,
        and: bool,
        a: &Expr,
        b: &Expr,
        env: Env,
        loc: Loc,
    ) -> Val {
        let left = self.expr(a, env);
        if self.joins_masks(and, &left, [a, b], loc) {
            self.expr(b, env);
            return Val::Error;
        }
        match self.condition(&left, a.loc) {
            None => {
                self.expr(b, env);
                Val::Error
            }
            Some(Ok(known)) if known != and => left,
            Some(Ok(_)) => {
                let right = self.expr(b, env);
                self.condition(&right, b.loc);
                right
            }
            Some(Err(_)) => {
                let truth = |known: bool| {
                    Val::Const(Const::Bool(known), super::value::Num::Known(crate::ir::Dtype::Bool))
                };
                // If the right side only computes, evaluating it early changes nothing.
                let (region, ended, right) = self.side(&mut |builder| builder.expr(b, env));
                let pure = !ended && region.stmts.iter().all(|stmt| computes(stmt, &region.stmts));
                if pure {
                    self.regions.last_mut().expect("a region is open").stmts.extend(region.stmts);
                    let op = if and { Binary::And } else { Binary::Or };
                    if self.condition(&right, b.loc).is_none() {
                        return Val::Error;
                    }
                    return self.binary(op, &left, &right, loc);
                }
                let mut evaluate = |builder: &mut Self| builder.expr(b, env);
                let mut constant = |_: &mut Self| truth(!and);
                if and {
                    self.branch_on(&left, a.loc, loc, &mut evaluate, &mut constant)
                } else {
                    self.branch_on(&left, a.loc, loc, &mut constant, &mut evaluate)
                }
            }
        }
    }
}

/// Whether a statement has a value whatever its operands are: the left side may rule out that a divisor is zero.
fn computes(stmt: &Stmt, before: &[Stmt]) -> bool {
    let StmtKind::Op { op, args, .. } = &stmt.kind else { return false };
    let divides = matches!(op, Op::Elementwise(ElementwiseOp::Binary(Binary::Div | Binary::Rem)));
    let constant = |divisor: Value| {
        before.iter().any(|other| {
            matches!(&other.kind, StmtKind::Op {
                op: Op::Source(SourceOp::Const(value)), result: Some(result), ..
            } if *result == divisor && *value != Const::Int(0))
        })
    };
    op.is_pure() && (!divides || constant(args[1]))
}

/// The leaves of two values of one form, in pairs.
pub(crate) fn zip_leaves(a: &Val, b: &Val) -> Option<Vec<(Val, Val)>> {
    if let (Val::View(x), Val::View(y)) = (a, b) {
        return x.is_like(y).then(|| x.at.iter().cloned().zip(y.at.iter().cloned()).collect());
    }
    if let (Val::Slice(x), Val::Slice(y)) = (a, b) {
        let bounds = || x.bounds.iter().cloned().zip(y.bounds.iter().cloned()).collect();
        return (x.param == y.param).then(bounds);
    }
    match (a.parts(), b.parts()) {
        (Some(x), Some(y)) => {
            let kinds = std::mem::discriminant(a) == std::mem::discriminant(b);
            if !kinds || x.len() != y.len() {
                return None;
            }
            let mut out = Vec::new();
            for (x, y) in x.iter().zip(y) {
                out.extend(zip_leaves(x, y)?);
            }
            Some(out)
        }
        (None, None) => {
            let scalar = |v: &Val| matches!(v, Val::Const(..) | Val::Value(_) | Val::Error);
            (a.same(b) || (scalar(a) && scalar(b))).then(|| vec![(a.clone(), b.clone())])
        }
        _ => None,
    }
}
