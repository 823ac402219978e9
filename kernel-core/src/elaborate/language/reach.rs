//! What a loop body can change: the variables that its text can reach.

use super::{
    scope::{Binding, VarId},
    value::{ClosureVal, Val},
};
use crate::{
    elaborate::{Builder, Env},
    loc::Loc,
    syntax::{Block, Expr, ExprKind},
};

impl Builder<'_> {
    /// The leaves that a body might change: those of every mutable variable that it can reach by name.
    pub(crate) fn candidates(&mut self, text: &[&Expr], env: Env) -> Vec<(VarId, usize)> {
        let vars = self.reached_by(text.iter().copied(), env);
        let mut out = Vec::new();
        for var in vars {
            let data = &self.scopes.vars[var.0 as usize];
            if !data.mutable {
                continue;
            }
            for (index, leaf) in data.val.leaves().into_iter().enumerate() {
                if matches!(leaf, Val::Const(..) | Val::Value(_)) {
                    out.push((var, index));
                }
            }
        }
        out
    }

    /// The variables that a body can reach by name, through references and through closures.
    pub(crate) fn reached_by<'e>(
        &self,
        text: impl IntoIterator<Item = &'e Expr>,
        env: Env,
    ) -> Vec<VarId> {
        let (mut vars, mut names) = (Vec::new(), Vec::new());
        for part in text {
            names_in(part, &mut names);
        }
        for name in names {
            self.reachable(name, env, &mut vars, 0);
        }
        vars.sort_unstable();
        vars.dedup();
        vars
    }

    fn reachable(&self, name: &str, env: Env, vars: &mut Vec<VarId>, depth: u32) {
        let Some(Binding::Var(var)) = self.scopes.value_named(env, name) else { return };
        self.reach(*var, vars, depth);
    }

    /// Adds a variable and what it reaches.
    pub(crate) fn reach(&self, var: VarId, vars: &mut Vec<VarId>, depth: u32) {
        if vars.contains(&var) || depth > 32 {
            return;
        }
        vars.push(var);
        // A variable of a branch is gone after it.
        let Some(data) = self.scopes.vars.get(var.0 as usize) else { return };
        for leaf in data.val.leaves() {
            if let Val::Ref(place) = leaf {
                self.reach(place.var, vars, depth + 1);
            } else if let Val::Closure(closure) = leaf {
                self.reach_in(closure, vars, depth);
            } else if let Val::Partition(part) = leaf
                && let Some((run, _)) = &part.run
            {
                self.reach_in(run, vars, depth);
            }
        }
    }

    /// Adds what a closure reaches.
    fn reach_in(&self, closure: &ClosureVal, vars: &mut Vec<VarId>, depth: u32) {
        let ClosureVal { body, scope, .. } = closure;
        let mut names = Vec::new();
        names_in(body, &mut names);
        for name in names {
            self.reachable(name, *scope, vars, depth + 1);
        }
    }
}

/// Whether an expression holds a `break`, a `continue` or a `return`, closures included.
pub(crate) fn jumps(expr: &Expr) -> bool {
    let mut found =
        matches!(expr.kind, ExprKind::Break(..) | ExprKind::Continue(_) | ExprKind::Return(_));
    children(expr, &mut |child| found |= jumps(child));
    found
}

/// Whether a block can return early: a `return` outside closures.
pub(crate) fn returns_early(block: &Block) -> bool {
    block.exprs().any(expr_returns)
}

/// Whether an expression can return early, other than from a closure in it.
pub(crate) fn expr_returns(expr: &Expr) -> bool {
    let mut found = matches!(expr.kind, ExprKind::Return(_));
    if !matches!(expr.kind, ExprKind::Closure(..)) {
        children(expr, &mut |child| found |= expr_returns(child));
    }
    found
}

/// Where an expression first assigns to a variable with this name, or to a part of it.
pub(crate) fn assigned(expr: &Expr, name: &str) -> Option<Loc> {
    fn is_part_of(expr: &Expr, name: &str) -> bool {
        if let ExprKind::Field(of, _) | ExprKind::Index(of, _) = &expr.kind {
            return is_part_of(of, name);
        }
        expr.name() == Some(name)
    }
    if let ExprKind::Assign(target, _) | ExprKind::AssignOp(_, target, _) = &expr.kind
        && is_part_of(target, name)
    {
        return Some(expr.loc);
    }
    let mut found = None;
    children(expr, &mut |child| found = found.or_else(|| assigned(child, name)));
    found
}

fn names_in<'a>(expr: &'a Expr, out: &mut Vec<&'a str>) {
    out.extend(expr.name());
    children(expr, &mut |child| names_in(child, out));
}

/// Calls `each` on every expression that stands in this one and in none between.
pub(crate) fn children<'a>(expr: &'a Expr, each: &mut dyn FnMut(&'a Expr)) {
    match &expr.kind {
        ExprKind::Lit(_) | ExprKind::Path(_) | ExprKind::Continue(_) => {}
        ExprKind::Refused(parts) => parts.iter().flat_map(Block::exprs).for_each(each),
        ExprKind::TileLayout(parts) => {
            for part in parts {
                let strides = part.strides.iter().map(|(stride, _)| stride);
                part.extents.iter().chain(strides).for_each(&mut *each);
            }
        }
        ExprKind::Ptx(call) => call.inputs.iter().for_each(|(_, value)| each(value)),
        ExprKind::Said { operands, text, .. } => {
            let said = text.values.iter().map(|said| &said.value);
            operands.iter().chain(said).for_each(each);
        }
        ExprKind::Unary(_, a)
        | ExprKind::Field(a, _)
        | ExprKind::Cast(a, _)
        | ExprKind::Ref(_, a)
        | ExprKind::Fits { value: a, .. }
        | ExprKind::Closure(_, a) => each(a),
        ExprKind::Binary(_, a, b)
        | ExprKind::Assign(a, b)
        | ExprKind::AssignOp(_, a, b)
        | ExprKind::Index(a, b)
        | ExprKind::Repeat(a, b) => {
            each(a);
            each(b);
        }
        ExprKind::Call(of, args) | ExprKind::Method(of, _, args) => {
            each(of);
            args.iter().for_each(each);
        }
        ExprKind::Tuple(parts) | ExprKind::Array(parts) => parts.iter().for_each(each),
        ExprKind::Struct(_, fields) => fields.iter().for_each(|(_, value)| each(value)),
        ExprKind::Block(block) | ExprKind::ConstBlock(block) | ExprKind::Loop(_, block) => {
            block.exprs().for_each(each);
        }
        ExprKind::If(condition, then, otherwise) => {
            each(condition);
            then.exprs().chain(otherwise.as_deref()).for_each(each);
        }
        ExprKind::While(_, over, body) | ExprKind::For(_, _, over, body) => {
            each(over);
            body.exprs().for_each(each);
        }
        ExprKind::Break(_, value) | ExprKind::Return(value) => {
            if let Some(value) = value {
                each(value);
            }
        }
        ExprKind::Range(a, b) => a.iter().chain(b).for_each(|end| each(end)),
    }
}
