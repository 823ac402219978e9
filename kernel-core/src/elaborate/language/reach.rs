//! What a loop body can change: the variables that its text can reach.

use super::{
    scope::{Binding, VarId},
    value::{ClosureVal, Val},
};
use crate::{
    elaborate::{Builder, Env},
    loc::Loc,
    syntax::{Block, Expr, ExprKind, Stmt},
};

impl Builder<'_> {
    /// The leaves that a body might change: those of every mutable variable that it can reach by name.
    pub(crate) fn candidates(&mut self, scan: &[Scan<'_>], env: Env) -> Vec<(VarId, usize)> {
        let vars = self.reached_by(scan, env);
        let mut out = Vec::new();
        for var in vars {
            let data = &self.scopes.vars[var.0 as usize];
            if !data.mutable {
                continue;
            }
            let mut index = 0;
            let mut leaves = Vec::new();
            data.val.leaves(&mut |leaf| {
                if matches!(leaf, Val::Const(..) | Val::Value(_)) {
                    leaves.push(index);
                }
                index += 1;
            });
            out.extend(leaves.into_iter().map(|leaf| (var, leaf)));
        }
        out
    }

    /// The variables that a body can reach by name, through references and through closures.
    pub(crate) fn reached_by(&self, scan: &[Scan<'_>], env: Env) -> Vec<VarId> {
        let mut vars = Vec::new();
        for part in scan {
            let mut names = Vec::new();
            match part {
                Scan::Block(block) => names_in_block(block, &mut names),
                Scan::Expr(expr) => names_in(expr, &mut names),
            }
            for name in names {
                self.reachable(name, env, &mut vars, 0);
            }
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
        data.val.leaves(&mut |leaf| match leaf {
            Val::Ref(place) => self.reach(place.var, vars, depth + 1),
            Val::Closure(closure) => self.reach_in(closure, vars, depth),
            Val::Partition(part) => {
                if let Some((run, _)) = &part.run {
                    self.reach_in(run, vars, depth);
                }
            }
            _ => {}
        });
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

/// A part of the text of a loop.
pub(crate) enum Scan<'a> {
    Block(&'a Block),
    Expr(&'a Expr),
}

impl Scan<'_> {
    /// Whether it holds a `break`, a `continue` or a `return`, closures included.
    pub(crate) fn jumps(&self) -> bool {
        fn in_block(block: &Block) -> bool {
            let in_stmt = |stmt: &Stmt| match stmt {
                Stmt::Let { init, .. } => init.as_ref().is_some_and(in_expr),
                Stmt::Expr(expr) => in_expr(expr),
            };
            block.stmts.iter().any(in_stmt) || block.tail.iter().any(|tail| in_expr(tail))
        }
        fn in_expr(expr: &Expr) -> bool {
            let jumps = matches!(
                expr.kind,
                ExprKind::Break(..) | ExprKind::Continue(_) | ExprKind::Return(_)
            );
            let mut found = jumps;
            children(expr, &mut |child| match child {
                Child::Expr(expr) => found |= in_expr(expr),
                Child::Block(block) => found |= in_block(block),
            });
            found
        }
        match self {
            Scan::Block(block) => in_block(block),
            Scan::Expr(expr) => in_expr(expr),
        }
    }
}

fn names_in_block<'a>(block: &'a Block, out: &mut Vec<&'a str>) {
    for stmt in &block.stmts {
        match stmt {
            Stmt::Let { init, .. } => init.iter().for_each(|e| names_in(e, out)),
            Stmt::Expr(expr) => names_in(expr, out),
        }
    }
    block.tail.iter().for_each(|e| names_in(e, out));
}

/// Whether a block can return early: a `return` outside closures.
pub(crate) fn returns_early(block: &Block) -> bool {
    let mut found = false;
    for stmt in &block.stmts {
        match stmt {
            Stmt::Let { init, .. } => init.iter().for_each(|e| find_return(e, &mut found)),
            Stmt::Expr(expr) => find_return(expr, &mut found),
        }
    }
    block.tail.iter().for_each(|e| find_return(e, &mut found));
    found
}

/// Whether an expression can return early, other than from a closure in it.
pub(crate) fn expr_returns(expr: &Expr) -> bool {
    let mut found = false;
    find_return(expr, &mut found);
    found
}

/// Where an expression first assigns to a variable with this name, or to a part of it.
pub(crate) fn assigned(expr: &Expr, name: &str) -> Option<Loc> {
    fn is_part_of(expr: &Expr, name: &str) -> bool {
        match &expr.kind {
            ExprKind::Path(path) => {
                matches!(path.segments.as_slice(), [only] if only.name == name)
            }
            ExprKind::Field(of, _) | ExprKind::Index(of, _) => is_part_of(of, name),
            _ => false,
        }
    }
    if let ExprKind::Assign(target, _) | ExprKind::AssignOp(_, target, _) = &expr.kind
        && is_part_of(target, name)
    {
        return Some(expr.loc);
    }
    let mut found = None;
    children(expr, &mut |child| {
        if found.is_some() {
            return;
        }
        found = match child {
            Child::Expr(expr) => assigned(expr, name),
            Child::Block(block) => {
                let stmts = block.stmts.iter().filter_map(|stmt| match stmt {
                    Stmt::Let { init, .. } => init.as_ref(),
                    Stmt::Expr(expr) => Some(expr),
                });
                let mut all = stmts.chain(block.tail.as_deref());
                all.find_map(|expr| assigned(expr, name))
            }
        };
    });
    found
}

fn find_return(expr: &Expr, found: &mut bool) {
    match &expr.kind {
        ExprKind::Return(_) => *found = true,
        ExprKind::Closure(..) => {}
        _ => children(expr, &mut |child| match child {
            Child::Expr(expr) => find_return(expr, found),
            Child::Block(block) => *found |= returns_early(block),
        }),
    }
}

fn names_in<'a>(expr: &'a Expr, out: &mut Vec<&'a str>) {
    if let ExprKind::Path(path) = &expr.kind
        && let [segment] = path.segments.as_slice()
    {
        out.push(&segment.name);
    }
    children(expr, &mut |child| match child {
        Child::Expr(expr) => names_in(expr, out),
        Child::Block(block) => names_in_block(block, out),
    });
}

enum Child<'a> {
    Expr(&'a Expr),
    Block(&'a Block),
}

/// Calls `each` on every direct part of an expression.
fn children<'a>(expr: &'a Expr, each: &mut dyn FnMut(Child<'a>)) {
    match &expr.kind {
        ExprKind::Lit(_) | ExprKind::Path(_) | ExprKind::Continue(_) => {}
        ExprKind::Refused(parts) => {
            for part in parts {
                each(Child::Block(part));
            }
        }
        ExprKind::TileLayout(parts) => {
            for part in parts {
                let strides = part.strides.iter().map(|(stride, _)| stride);
                for inner in part.extents.iter().chain(strides) {
                    each(Child::Expr(inner));
                }
            }
        }
        ExprKind::Ptx(call) => {
            for (_, value) in &call.inputs {
                each(Child::Expr(value));
            }
        }
        ExprKind::Unary(_, a)
        | ExprKind::Field(a, _)
        | ExprKind::Cast(a, _)
        | ExprKind::Ref(_, a)
        | ExprKind::Assert(a, _) => {
            each(Child::Expr(a));
        }
        ExprKind::Closure(_, body) => each(Child::Expr(body)),
        ExprKind::Binary(_, a, b)
        | ExprKind::Assign(a, b)
        | ExprKind::AssignOp(_, a, b)
        | ExprKind::Index(a, b)
        | ExprKind::Repeat(a, b) => {
            each(Child::Expr(a));
            each(Child::Expr(b));
        }
        ExprKind::Call(f, args) => {
            each(Child::Expr(f));
            for arg in args {
                each(Child::Expr(arg));
            }
        }
        ExprKind::Method(receiver, _, args) => {
            each(Child::Expr(receiver));
            for arg in args {
                each(Child::Expr(arg));
            }
        }
        ExprKind::Tuple(parts) | ExprKind::Array(parts) => {
            for part in parts {
                each(Child::Expr(part));
            }
        }
        ExprKind::Struct(_, fields) => {
            for (_, value) in fields {
                each(Child::Expr(value));
            }
        }
        ExprKind::Block(block) | ExprKind::ConstBlock(block) | ExprKind::Loop(_, block) => {
            each(Child::Block(block));
        }
        ExprKind::If(condition, then, otherwise) => {
            each(Child::Expr(condition));
            each(Child::Block(then));
            if let Some(otherwise) = otherwise {
                each(Child::Expr(otherwise));
            }
        }
        ExprKind::While(_, condition, body) => {
            each(Child::Expr(condition));
            each(Child::Block(body));
        }
        ExprKind::For(_, _, iter, body) => {
            each(Child::Expr(iter));
            each(Child::Block(body));
        }
        ExprKind::Break(_, value) | ExprKind::Return(value) => {
            if let Some(value) = value {
                each(Child::Expr(value));
            }
        }
        ExprKind::Range(a, b) => {
            for end in a.iter().chain(b) {
                each(Child::Expr(end));
            }
        }
    }
}
