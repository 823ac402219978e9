//! Branches and loops: where variables become SSA values.
//!
//! A branch on a constant is taken while building. A branch at run time builds both sides from the
//! same variables and joins the leaves (scalars, tiles, addresses) in which they differ.
//!
//! A loop carries the leaves that its body changes. Which these are is found by building the body
//! once on trial, with every leaf in reach carried, and throwing the result away: a leaf is carried
//! in earnest if some `continue` or `break` passes another value than the one that came in. What
//! the body leaves alone keeps its value, constants included.
//!
//! A function with an early `return` is a loop that runs once, left by `break`.

use super::{
    Builder, Env,
    scope::{Binding, Var, VarId},
    value::{ClosureVal, RangeVal, Val},
};
use crate::{
    diag::{Code, Diagnostic},
    ir::{Const, Op, Region, StmtKind, Terminator, Type, Value},
    loc::Loc,
    syntax::{Block, Expr, ExprKind, Pat, Stmt},
};

/// A loop or function body being built.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) label: Option<String>,
    kind: FrameKind,
    /// The leaves that are carried.
    carried: Vec<(VarId, usize)>,
    /// The value of each carried leaf at the start of a turn.
    args: Vec<Value>,
    /// Whether some edge passes another value.
    changed: Vec<bool>,
    /// The value that each `break` gives.
    values: Vec<Val>,
    /// Regions open when the frame was entered.
    regions: usize,
    /// An unrolled loop: how the current turn was left.
    stop: Option<Stop>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrameKind {
    Loop,
    Function,
    Unrolled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    Break,
    Continue,
}

enum LoopKind {
    For { from: Value, to: Value, step: Value, iv: Value },
    Loop,
    Function,
}

impl Builder<'_> {
    /// Whether what follows can be reached.
    pub(super) fn dead(&self) -> bool {
        self.terminated
            || self
                .frames
                .iter()
                .rev()
                .take_while(|f| f.kind != FrameKind::Function)
                .any(|f| f.stop.is_some())
    }

    fn leaf(&self, (var, index): (VarId, usize)) -> Val {
        let mut at = 0;
        let mut found = Val::Error;
        self.scopes.vars[var.0 as usize].val.leaves(&mut |leaf| {
            if at == index {
                found = leaf.clone();
            }
            at += 1;
        });
        found
    }

    fn set_leaf(&mut self, (var, index): (VarId, usize), val: Val) {
        let slot = &mut self.scopes.vars[var.0 as usize].val;
        let mut leaves = Vec::new();
        slot.leaves(&mut |leaf| leaves.push(leaf.clone()));
        if let Some(leaf) = leaves.get_mut(index) {
            *leaf = val;
        }
        *slot = slot.with_leaves(&mut leaves.into_iter());
    }

    // ------------------------------------------------------------------------------------ branches

    /// `if c { a } else { b }`
    pub(super) fn branch(
        &mut self,
        condition: &Expr,
        then: &Block,
        otherwise: Option<&Expr>,
        env: Env,
        loc: Loc,
    ) -> Val {
        let val = self.expr(condition, env);
        self.branch_on(&val, condition.loc, loc, &mut |b| b.block(then, env), &mut |b| {
            otherwise.map_or(Val::Unit, |e| b.expr(e, env))
        })
    }

    /// The condition of a branch as an IR value, or as a constant.
    fn condition(&mut self, val: &Val, loc: Loc) -> Option<Result<bool, Value>> {
        match self.plain(val.clone()) {
            Val::Const(Const::Bool(known), _) => Some(Ok(known)),
            Val::Error | Val::Never => None,
            Val::Value(value) if *self.ty(value) == Type::scalar(crate::ir::Dtype::Bool) => {
                Some(Err(value))
            }
            other => {
                let actual = self.describe(&other);
                let mut diagnostic = Diagnostic::new(
                    Code::Kind,
                    loc,
                    "a condition is one `bool` for the whole block",
                )
                .compare("", "a scalar (bool)", actual);
                if let Val::Value(value) = other
                    && matches!(self.ty(value), Type::Tile(..))
                {
                    diagnostic = diagnostic
                        .why("all threads of a block take the same branch; elements are chosen one by one with a mask")
                        .help("select(mask, a, b)");
                }
                self.report(diagnostic);
                None
            }
        }
    }

    pub(super) fn branch_on(
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
            Some(Err(value)) => value,
            None => {
                // The branches are still looked at, for their own problems.
                let vars = self.scopes.vars.clone();
                then(self);
                self.scopes.vars.clone_from(&vars);
                otherwise(self);
                self.scopes.vars = vars;
                return Val::Error;
            }
        };
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

    fn side(&mut self, body: &mut dyn FnMut(&mut Self) -> Val) -> (Region, bool, Val) {
        let outer = std::mem::replace(&mut self.terminated, false);
        self.regions.push(Region::default());
        self.conditional += 1;
        let val = body(self);
        self.conditional -= 1;
        let ended = std::mem::replace(&mut self.terminated, outer);
        (self.regions.pop().expect("pushed above"), ended, val)
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
                (true, false) => self.go_on(&mut otherwise, else_vars, else_val, &mut results, loc),
                _ => self.go_on(&mut then, then_vars, then_val, &mut results, loc),
            };
            self.push(StmtKind::If { condition, then, otherwise, results }, loc);
            if then_end && else_end {
                self.terminated = true;
            }
            return val;
        }
        // Variables first, then the value of the branch itself.
        let mut pairs: Vec<(Option<(VarId, usize)>, Val, Val)> = Vec::new();
        let count = self.scopes.vars.len();
        for index in 0..count {
            let (a, b) = (&then_vars[index].val, &else_vars[index].val);
            if a.same(b) {
                self.scopes.vars[index].val = a.clone();
                continue;
            }
            let id = VarId(u32::try_from(index).expect("checked when declared"));
            match zip_leaves(a, b) {
                Some(leaves) => {
                    self.scopes.vars[index].val = a.clone();
                    for (leaf, (x, y)) in leaves.into_iter().enumerate() {
                        if !x.same(&y) {
                            pairs.push((Some((id, leaf)), x, y));
                        }
                    }
                }
                None => {
                    self.differing(&a.clone(), &b.clone(), loc);
                    self.scopes.vars[index].val = Val::Error;
                }
            }
        }
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
            let merged = match (a, b) {
                (Some(a), Some(b)) => self.merged(a, b, loc).map(|out| (a, b, out)),
                _ => None,
            };
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
        let mut leaves = Vec::new();
        then_val.leaves(&mut |leaf| leaves.push(leaf.clone()));
        for (leaf, out) in value_leaves.into_iter().zip(outs.into_iter().skip(value_at)) {
            leaves[leaf] = out;
        }
        then_val.with_leaves(&mut leaves.into_iter())
    }

    /// Only one side comes back: what it made and left in variables or as its value becomes results of the branch.
    fn go_on(
        &mut self,
        region: &mut Region,
        vars: Vec<Var>,
        val: Val,
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
        let val = self.escaping(&val, None, &mut out, results, loc);
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
        let mut known = Vec::new();
        if let Some(before) = before {
            before.leaves(&mut |leaf| known.push(leaf.clone()));
        }
        let mut leaves = Vec::new();
        val.leaves(&mut |leaf| leaves.push(leaf.clone()));
        for leaf in &mut leaves {
            if let Val::Value(value) = *leaf
                && !known.iter().any(|old| old.same(leaf))
            {
                let result = self.new_value(self.ty(value).clone(), loc);
                if let Some(num) = self.value_cells.get(value).copied() {
                    self.value_cells.insert(result, num);
                }
                out.push(value);
                results.push(result);
                *leaf = Val::Value(result);
            }
        }
        val.with_leaves(&mut leaves.into_iter())
    }

    /// A value of the joined type, or a report.
    fn merged(&mut self, a: Value, b: Value, loc: Loc) -> Option<Value> {
        let (ta, tb) = (self.ty(a).clone(), self.ty(b).clone());
        let shapes = ta.shape() == tb.shape()
            && self.is_ptr(a) == self.is_ptr(b)
            && match (&ta, &tb) {
                (Type::Shared(x), Type::Shared(y)) => x == y,
                (Type::Shared(_), _) | (_, Type::Shared(_)) => false,
                _ => true,
            };
        if !shapes || self.cells.unify(self.num(a), self.num(b)).is_err() {
            let (x, y) = (Val::Value(a), Val::Value(b));
            self.differing(&x, &y, loc);
            return None;
        }
        let out = self.new_value(ta, loc);
        if let Some(num) = self.value_cells.get(a).copied() {
            self.value_cells.insert(out, num);
        }
        Some(out)
    }

    fn differing(&mut self, a: &Val, b: &Val, loc: Loc) {
        if matches!(a, Val::Error | Val::Never) || matches!(b, Val::Error | Val::Never) {
            return;
        }
        let (x, y) = (self.describe(a), self.describe(b));
        self.report(
            Diagnostic::new(
                Code::BranchTypes,
                loc,
                "the ways through this code leave values of different types behind",
            )
            .compare("", x, y)
            .why("after a branch or a turn of a loop, a variable has one type and one shape"),
        );
    }

    /// A value made at the end of a region that was closed already.
    fn in_region(&mut self, region: &mut Region, val: &Val, loc: Loc) -> Option<Value> {
        let outer = std::mem::replace(&mut self.terminated, false);
        self.regions.push(std::mem::take(region));
        let value = self.value(val, loc);
        *region = self.regions.pop().expect("pushed above");
        self.terminated = outer;
        value
    }

    /// `a && b`, `a || b`
    pub(super) fn short_circuit(
        &mut self,
        and: bool,
        a: &Expr,
        b: &Expr,
        env: Env,
        loc: Loc,
    ) -> Val {
        let left = self.expr(a, env);
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
                // Where the right side only computes, evaluating it early changes nothing.
                let (region, ended, right) = self.side(&mut |builder| builder.expr(b, env));
                let pure = !ended
                    && region
                        .stmts
                        .iter()
                        .all(|stmt| matches!(&stmt.kind, StmtKind::Op { op, .. } if op.is_pure()));
                if pure {
                    self.regions.last_mut().expect("a region is open").stmts.extend(region.stmts);
                    let op = if and { crate::ir::Binary::And } else { crate::ir::Binary::Or };
                    if self.condition(&right, b.loc).is_none() {
                        return Val::Error;
                    }
                    return self.binary(op, left, right, loc);
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

    // --------------------------------------------------------------------------------------- loops

    /// `for pat in range { .. }`
    pub(super) fn for_loop(
        &mut self,
        label: Option<&str>,
        pat: &Pat,
        iter: &Expr,
        body: &Block,
        env: Env,
        loc: Loc,
    ) -> Val {
        let val = self.expr(iter, env);
        let range = match self.plain(val) {
            Val::Range(range) => range,
            Val::Error | Val::Never => return Val::Error,
            Val::Array(parts) => return self.unrolled(label, pat, parts.to_vec(), body, env),
            other => {
                let actual = self.describe(&other);
                return self.report(
                    Diagnostic::new(Code::Kind, iter.loc, "a loop runs over a range")
                        .compare("", "`a..b`, `range(a, b, step)` or `unroll(..)`", actual)
                        .help("for i in range(0, n, 1)"),
                );
            }
        };
        if range.unroll {
            let Some(turns) = self.unrolled_turns(&range) else { return Val::Error };
            return self.unrolled(label, pat, turns, body, env);
        }
        if let Val::Const(Const::Int(0), _) = range.step {
            return self.error(Code::Overflow, range.loc, "a loop with step 0 never ends");
        }
        let (Some(from), Some(to), Some(step)) = (
            self.value(&range.from, range.loc),
            self.value(&range.to, range.loc),
            self.value(&range.step, range.loc),
        ) else {
            return Val::Error;
        };
        let num = self.unify(self.num(from), self.num(to), "a range", range.loc);
        let Some(num) = num else { return Val::Error };
        if self.unify(num, self.num(step), "a range", range.loc).is_none() {
            return Val::Error;
        }
        if self.cells.is_float(num)
            || !self.ty(from).shape().is_empty()
            || !self.ty(to).shape().is_empty()
        {
            return self.error(Code::Kind, range.loc, "a range counts integers");
        }
        let iv = self.new_num(None, num, pat.loc);
        self.run_loop(
            &LoopKind::For { from, to, step, iv },
            label,
            &[Scan::Block(body)],
            env,
            loc,
            &mut |builder| {
                let inner = builder.scopes.child(env);
                builder.bind_pattern(pat, Val::Value(iv), inner);
                builder.block_in(body, inner);
            },
        )
    }

    fn unrolled_turns(&mut self, range: &RangeVal) -> Option<Vec<Val>> {
        let from = self.const_int(&range.from, "the start of an unrolled loop", range.loc)?;
        let to = self.const_int(&range.to, "the end of an unrolled loop", range.loc)?;
        let step = self.const_int(&range.step, "the step of an unrolled loop", range.loc)?;
        let num = match &range.from {
            Val::Const(_, num) => *num,
            _ => return None,
        };
        if let Val::Const(_, other) = &range.to {
            let _ = self.cells.unify(num, *other);
        }
        if step == 0 || (to - from) / step.max(1) > 4096 {
            self.report(
                Diagnostic::new(
                    Code::Unbounded,
                    range.loc,
                    "an unrolled loop of this length is not compiled",
                )
                .compare(
                    "turns",
                    "at most 4096",
                    ((to - from) / step.max(1)).to_string(),
                ),
            );
            return None;
        }
        let mut turns = Vec::new();
        let mut at = from;
        while (step > 0 && at < to) || (step < 0 && at > to) {
            turns.push(Val::Const(Const::Int(at), num));
            at += step;
        }
        Some(turns)
    }

    fn unrolled(
        &mut self,
        label: Option<&str>,
        pat: &Pat,
        turns: Vec<Val>,
        body: &Block,
        env: Env,
    ) -> Val {
        self.frames.push(Frame {
            label: label.map(str::to_owned),
            kind: FrameKind::Unrolled,
            carried: Vec::new(),
            args: Vec::new(),
            changed: Vec::new(),
            values: Vec::new(),
            regions: self.regions.len(),
            stop: None,
        });
        for turn in turns {
            if !self.step(pat.loc) || self.terminated {
                break;
            }
            let inner = self.scopes.child(env);
            self.bind_pattern(pat, turn, inner);
            self.block_in(body, inner);
            let stop = self.frames.last_mut().expect("pushed above").stop.take();
            if stop == Some(Stop::Break) {
                break;
            }
        }
        self.frames.pop();
        Val::Unit
    }

    /// `while condition { .. }`
    pub(super) fn while_loop(
        &mut self,
        label: Option<&str>,
        condition: &Expr,
        body: &Block,
        env: Env,
        loc: Loc,
    ) -> Val {
        self.run_loop(
            &LoopKind::Loop,
            label,
            &[Scan::Block(body), Scan::Expr(condition)],
            env,
            loc,
            &mut |builder| {
                let val = builder.expr(condition, env);
                builder.branch_on(
                    &val,
                    condition.loc,
                    loc,
                    &mut |b| {
                        b.block(body, env);
                        Val::Unit
                    },
                    &mut |b| b.leave(None, &Val::Unit, loc),
                );
            },
        )
    }

    /// `loop { .. }`
    pub(super) fn plain_loop(
        &mut self,
        label: Option<&str>,
        body: &Block,
        env: Env,
        loc: Loc,
    ) -> Val {
        self.run_loop(&LoopKind::Loop, label, &[Scan::Block(body)], env, loc, &mut |builder| {
            builder.block(body, env);
        })
    }

    /// The body of a function with early returns.
    pub(super) fn returning(&mut self, body: &Block, env: Env) -> Val {
        self.run_loop(
            &LoopKind::Function,
            None,
            &[Scan::Block(body)],
            env,
            body.loc,
            &mut |builder| {
                let val = builder.block_in(body, env);
                builder.give_back(&val, body.loc);
            },
        )
    }

    fn run_loop(
        &mut self,
        kind: &LoopKind,
        label: Option<&str>,
        scan: &[Scan<'_>],
        env: Env,
        loc: Loc,
        body: &mut dyn FnMut(&mut Self),
    ) -> Val {
        if self.dead() {
            return Val::Never;
        }
        let all = self.candidates(scan, env);
        let carried = if all.is_empty() {
            all
        } else {
            let vars = self.scopes.vars.clone();
            let problems = self.problems.len();
            let stmts = self.regions.last().expect("a region is open").stmts.len();
            let (_, _, frame) = self.turn(kind, label, all.clone(), loc, body);
            self.scopes.vars = vars;
            self.problems.truncate(problems);
            self.regions.last_mut().expect("a region is open").stmts.truncate(stmts);
            all.into_iter()
                .zip(frame.changed)
                .filter(|(_, changed)| *changed)
                .map(|(leaf, _)| leaf)
                .collect()
        };
        let (inits, region, frame) = self.turn(kind, label, carried.clone(), loc, body);
        let mut results: Vec<Value> = Vec::new();
        for arg in &frame.args {
            let out = self.new_value(self.ty(*arg).clone(), loc);
            if let Some(num) = self.value_cells.get(*arg).copied() {
                self.value_cells.insert(out, num);
            }
            results.push(out);
        }
        for (leaf, out) in carried.iter().zip(&results) {
            self.set_leaf(*leaf, Val::Value(*out));
        }
        let (region, val) = self.loop_values(region, &frame, &mut results, loc);
        match *kind {
            LoopKind::For { from, to, step, .. } => {
                self.push(StmtKind::For { from, to, step, inits, body: region, results }, loc);
                Val::Unit
            }
            LoopKind::Loop | LoopKind::Function => {
                self.push(StmtKind::Loop { inits, body: region, results }, loc);
                if frame.values.is_empty() {
                    self.terminate(Terminator::Return);
                    return Val::Never;
                }
                val
            }
        }
    }

    /// The values that `break` gives become results after the carried ones; returns the joined value.
    fn loop_values(
        &mut self,
        mut region: Region,
        frame: &Frame,
        results: &mut Vec<Value>,
        loc: Loc,
    ) -> (Region, Val) {
        let Some(first) = frame.values.first() else { return (region, Val::Unit) };
        let mut count = 0;
        first.leaves(&mut |_| count += 1);
        let unit = matches!(first, Val::Unit | Val::Error);
        if unit || frame.values.iter().all(|val| val.same(first)) && is_static(first) {
            // Nothing is passed: drop what the breaks carry beyond the carried leaves.
            truncate_breaks(&mut region, 0, frame.carried.len());
            return (region, first.clone());
        }
        let mut leaves: Vec<Val> = Vec::new();
        let mut firsts = Vec::new();
        first.leaves(&mut |leaf| firsts.push(leaf.clone()));
        for (index, leaf) in firsts.iter().enumerate() {
            let Some(example) = break_value(&region, 0, frame.carried.len() + index) else {
                leaves.push(leaf.clone());
                continue;
            };
            let ty = self.ty(example).clone();
            let out = self.new_value(ty, loc);
            if let Some(num) = self.value_cells.get(example).copied() {
                self.value_cells.insert(out, num);
            }
            results.push(out);
            leaves.push(Val::Value(out));
        }
        (region, first.with_leaves(&mut leaves.into_iter()))
    }

    /// Builds the body once. Gives the initial values, the region, and what the frame saw.
    fn turn(
        &mut self,
        kind: &LoopKind,
        label: Option<&str>,
        carried: Vec<(VarId, usize)>,
        loc: Loc,
        body: &mut dyn FnMut(&mut Self),
    ) -> (Vec<Value>, Region, Frame) {
        let mut inits = Vec::new();
        let mut args = Vec::new();
        for leaf in &carried {
            let val = self.leaf(*leaf);
            let init = self.value(&val, loc).expect("candidates are scalars, tiles and windows");
            let arg = self.new_value(self.ty(init).clone(), loc);
            if let Some(num) = self.value_cells.get(init).copied() {
                self.value_cells.insert(arg, num);
            }
            inits.push(init);
            args.push(arg);
            self.set_leaf(*leaf, Val::Value(arg));
        }
        let mut region = Region { args: args.clone(), ..Region::default() };
        if let LoopKind::For { iv, .. } = kind {
            region.args.insert(0, *iv);
        }
        let outer = std::mem::replace(&mut self.terminated, false);
        self.regions.push(region);
        self.conditional += u32::from(!matches!(kind, LoopKind::Function));
        let changed = vec![false; carried.len()];
        self.frames.push(Frame {
            label: label.map(str::to_owned),
            kind: if matches!(kind, LoopKind::Function) {
                FrameKind::Function
            } else {
                FrameKind::Loop
            },
            carried,
            args,
            changed,
            values: Vec::new(),
            regions: self.regions.len(),
            stop: None,
        });
        body(self);
        if !self.terminated {
            let at = self.frames.len() - 1;
            let values = self.edge(at, loc);
            self.terminate(Terminator::Continue(0, values));
        }
        self.conditional -= u32::from(!matches!(kind, LoopKind::Function));
        let frame = self.frames.pop().expect("pushed above");
        let region = self.regions.pop().expect("pushed above");
        self.terminated = outer;
        (inits, region, frame)
    }

    /// The carried values as they stand, for an edge to or out of a frame.
    fn edge(&mut self, frame: usize, loc: Loc) -> Vec<Value> {
        let carried = self.frames[frame].carried.clone();
        let mut values = Vec::new();
        for (index, leaf) in carried.into_iter().enumerate() {
            let arg = self.frames[frame].args[index];
            let val = self.leaf(leaf);
            if !val.same(&Val::Value(arg)) {
                self.frames[frame].changed[index] = true;
            }
            let value = self.value(&val, loc).unwrap_or(arg);
            let fits = self.ty(value).shape() == self.ty(arg).shape()
                && self.is_ptr(value) == self.is_ptr(arg)
                && matches!(self.ty(value), Type::Shared(_))
                    == matches!(self.ty(arg), Type::Shared(_))
                && self.cells.unify(self.num(value), self.num(arg)).is_ok();
            if fits {
                values.push(value);
            } else {
                self.differing(&Val::Value(arg), &Val::Value(value), loc);
                values.push(arg);
            }
        }
        values
    }

    /// Number of IR loops between the current point and a frame.
    fn depth(&self, frame: usize) -> u32 {
        let inner =
            self.frames[frame + 1..].iter().filter(|f| f.kind != FrameKind::Unrolled).count();
        u32::try_from(inner).expect("nesting is limited")
    }

    fn find_frame(&self, label: Option<&str>) -> Option<usize> {
        self.frames
            .iter()
            .enumerate()
            .rev()
            .take_while(|(_, f)| f.kind != FrameKind::Function)
            .find(|(_, f)| label.is_none_or(|label| f.label.as_deref() == Some(label)))
            .map(|(index, _)| index)
    }

    /// `break 'label value`
    pub(super) fn leave(&mut self, label: Option<&str>, val: &Val, loc: Loc) -> Val {
        if self.dead() {
            return Val::Never;
        }
        let Some(frame) = self.find_frame(label) else { return Val::Never };
        if self.frames[frame].kind == FrameKind::Unrolled {
            return self.stop_unrolled(frame, Stop::Break, loc);
        }
        self.break_to(frame, val, loc)
    }

    /// `return value`, or the end of a function with early returns.
    pub(super) fn give_back(&mut self, val: &Val, loc: Loc) -> Val {
        if self.dead() {
            return Val::Never;
        }
        match self.frames.iter().rposition(|f| f.kind == FrameKind::Function) {
            Some(frame) => self.break_to(frame, val, loc),
            None => {
                self.terminate(Terminator::Return);
                Val::Never
            }
        }
    }

    fn break_to(&mut self, frame: usize, val: &Val, loc: Loc) -> Val {
        let mut values = self.edge(frame, loc);
        let val = self.plain(val.clone());
        let mut leaves = Vec::new();
        val.leaves(&mut |leaf| leaves.push(leaf.clone()));
        for leaf in leaves {
            if let Val::Const(..) | Val::Value(_) = leaf
                && let Some(value) = self.value(&leaf, loc)
            {
                values.push(value);
            }
        }
        if let Some(first) = self.frames[frame].values.first().cloned()
            && let Some(pairs) = zip_leaves(&first, &val)
        {
            for (a, b) in pairs {
                if let (Val::Const(..) | Val::Value(_), Val::Const(..) | Val::Value(_)) = (&a, &b)
                    && let (super::value::Ty::Scalar(x), super::value::Ty::Scalar(y)) =
                        (self.type_of(&a), self.type_of(&b))
                    && self.cells.unify(x, y).is_err()
                {
                    self.differing(&a, &b, loc);
                }
            }
        }
        let depth = self.depth(frame);
        self.terminate(Terminator::Break(depth, values));
        self.frames[frame].values.push(val);
        Val::Never
    }

    /// `continue 'label`
    pub(super) fn next_turn(&mut self, label: Option<&str>, loc: Loc) -> Val {
        if self.dead() {
            return Val::Never;
        }
        let Some(frame) = self.find_frame(label) else { return Val::Never };
        if self.frames[frame].kind == FrameKind::Unrolled {
            return self.stop_unrolled(frame, Stop::Continue, loc);
        }
        let values = self.edge(frame, loc);
        let depth = self.depth(frame);
        self.terminate(Terminator::Continue(depth, values));
        Val::Never
    }

    fn stop_unrolled(&mut self, frame: usize, stop: Stop, loc: Loc) -> Val {
        if self.frames[frame].regions != self.regions.len() {
            return self.report(
                Diagnostic::new(
                    Code::NotConstant,
                    loc,
                    "an unrolled loop cannot be left under a run-time condition",
                )
                .why("its turns are written out one after the other while compiling")
                .help("use `for i in 0..n` without `unroll`"),
            );
        }
        self.frames[frame].stop = Some(stop);
        Val::Never
    }

    /// The leaves that a body might change: those of every mutable variable that it can reach by name.
    fn candidates(&mut self, scan: &[Scan<'_>], env: Env) -> Vec<(VarId, usize)> {
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

    fn reachable(&self, name: &str, env: Env, vars: &mut Vec<VarId>, depth: u32) {
        let Some(Binding::Var(var)) = self.scopes.lookup(env, name) else { return };
        self.reach(*var, vars, depth);
    }

    fn reach(&self, var: VarId, vars: &mut Vec<VarId>, depth: u32) {
        if vars.contains(&var) || depth > 32 {
            return;
        }
        vars.push(var);
        self.scopes.vars[var.0 as usize].val.leaves(&mut |leaf| match leaf {
            Val::Ref(place) => self.reach(place.var, vars, depth + 1),
            Val::Closure(closure) => {
                let ClosureVal { body, scope, .. } = &**closure;
                let mut names = Vec::new();
                names_in(body, &mut names);
                for name in names {
                    self.reachable(name, *scope, vars, depth + 1);
                }
            }
            _ => {}
        });
    }
}

enum Scan<'a> {
    Block(&'a Block),
    Expr(&'a Expr),
}

/// A value without anything that exists only at run time.
fn is_static(val: &Val) -> bool {
    let mut fixed = true;
    val.leaves(&mut |leaf| fixed &= !matches!(leaf, Val::Const(..) | Val::Value(_)));
    fixed
}

/// The leaves of two values of one form, in pairs.
fn zip_leaves(a: &Val, b: &Val) -> Option<Vec<(Val, Val)>> {
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

/// Drops what breaks out of the loop at `depth` pass beyond the first `keep` values.
fn truncate_breaks(region: &mut Region, depth: u32, keep: usize) {
    if let Terminator::Break(to, values) = &mut region.end
        && *to == depth
    {
        values.truncate(keep);
    }
    for stmt in &mut region.stmts {
        match &mut stmt.kind {
            StmtKind::If { then, otherwise, .. } => {
                truncate_breaks(then, depth, keep);
                truncate_breaks(otherwise, depth, keep);
            }
            StmtKind::For { body, .. } | StmtKind::Loop { body, .. } => {
                truncate_breaks(body, depth + 1, keep)
            }
            StmtKind::Op { .. } | StmtKind::Reduce { .. } => {}
        }
    }
}

/// Value number `index` of some break out of the loop at `depth`.
fn break_value(region: &Region, depth: u32, index: usize) -> Option<Value> {
    if let Terminator::Break(to, values) = &region.end
        && *to == depth
    {
        return values.get(index).copied();
    }
    region.stmts.iter().find_map(|stmt| match &stmt.kind {
        StmtKind::If { then, otherwise, .. } => {
            break_value(then, depth, index).or_else(|| break_value(otherwise, depth, index))
        }
        StmtKind::For { body, .. } | StmtKind::Loop { body, .. } => {
            break_value(body, depth + 1, index)
        }
        StmtKind::Op { .. } | StmtKind::Reduce { .. } => None,
    })
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
pub(super) fn returns_early(block: &Block) -> bool {
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
        ExprKind::Lit(_) | ExprKind::Path(_) | ExprKind::Continue(_) | ExprKind::Error => {}
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
            args.iter().for_each(|arg| each(Child::Expr(arg)));
        }
        ExprKind::Method(receiver, _, args) => {
            each(Child::Expr(receiver));
            args.iter().for_each(|arg| each(Child::Expr(arg)));
        }
        ExprKind::Tuple(parts) | ExprKind::Array(parts) => {
            parts.iter().for_each(|p| each(Child::Expr(p)))
        }
        ExprKind::Struct(_, fields) => {
            fields.iter().for_each(|(_, value)| each(Child::Expr(value)))
        }
        ExprKind::Block(block) | ExprKind::ConstBlock(block) | ExprKind::Loop(_, block) => {
            each(Child::Block(block))
        }
        ExprKind::If(condition, then, otherwise) => {
            each(Child::Expr(condition));
            each(Child::Block(then));
            otherwise.iter().for_each(|e| each(Child::Expr(e)));
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
            value.iter().for_each(|e| each(Child::Expr(e)))
        }
        ExprKind::Range(a, b) => a.iter().chain(b).for_each(|e| each(Child::Expr(e))),
    }
}

impl Op {
    /// Whether the operation only computes: no memory, no synchronisation, no trap.
    pub fn is_pure(&self) -> bool {
        match self {
            Op::Const(_)
            | Op::ParamPtr(_)
            | Op::ParamDim(..)
            | Op::ParamStride(..)
            | Op::ParamScalar(_)
            | Op::BlockId(_)
            | Op::NumBlocks(_)
            | Op::Arange(_)
            | Op::Splat
            | Op::Broadcast
            | Op::Expand(_)
            | Op::Reshape
            | Op::Permute(_)
            | Op::Unary(_)
            | Op::Binary(_)
            | Op::Compare(_)
            | Op::Select
            | Op::Fma
            | Op::Cast
            | Op::ToLayout(_)
            | Op::SharedIndex
            | Op::SharedTranspose
            | Op::Dot { .. } => true,
            Op::LoadTensor(_)
            | Op::StoreTensor(_)
            | Op::LoadPtr { .. }
            | Op::StorePtr { .. }
            | Op::Atomic(_)
            | Op::SharedAlloc(_)
            | Op::LoadShared
            | Op::StoreShared
            | Op::CopyAsync(_)
            | Op::CopyCommit
            | Op::CopyWait(_)
            | Op::CopyWaitAll
            | Op::Sync
            | Op::Assert(_) => false,
        }
    }
}
