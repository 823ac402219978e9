//! Branches and loops: where variables become SSA values.
//!
//! A branch on a constant is taken while building. A branch at run time builds both sides from the
//! same variables and joins the leaves (scalars, tiles, addresses) in which they differ.
//!
//! A loop carries the leaves that its body changes. Which these are is found by building the body
//! once on trial, with every leaf in reach carried, and dropping the result: a leaf is carried
//! if some `continue` or `break` passes another value than the one that came in. What
//! the body leaves alone keeps its value, constants included.
//!
//! A function with an early `return` is a loop that runs once, left by `break`.

use super::{
    branch::zip_leaves,
    scope::VarId,
    value::{Num, RangeVal, Val},
};
use crate::{
    diag::Code,
    elaborate::{Builder, Env, budget::Unrolling},
    ir::{Const, Region, Stmt, StmtKind, Terminator, Type, Value},
    loc::Loc,
    syntax::{Block, Expr, Pat},
};

/// A loop or function body being built.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) label: Option<String>,
    kind: FrameKind,
    /// The leaves that are carried.
    carried: Vec<(VarId, usize)>,
    /// The value of each carried leaf at the start of an iteration.
    args: Vec<Value>,
    /// Whether some edge passes another value.
    changed: Vec<bool>,
    /// The value that each `break` gives.
    values: Vec<Val>,
    /// Regions open when the frame was entered.
    regions: usize,
    /// An unrolled loop: how the current iteration was left.
    pub(crate) stop: Option<Stop>,
    /// An unrolled loop: where it is, and how far.
    pub(crate) unrolling: Option<Unrolling>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrameKind {
    /// `loop`: `break` may give a value.
    Loop,
    /// `for`, `while`
    Iterations,
    Function,
    Unrolled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Break,
    Continue,
}

pub(crate) enum LoopKind {
    For { from: Value, to: Value, step: Value, iv: Value },
    While,
    Loop,
    Function,
}

impl Builder<'_> {
    /// Whether what follows can be reached.
    pub(crate) fn dead(&self) -> bool {
        self.terminated
            || self
                .frames
                .iter()
                .rev()
                .take_while(|f| f.kind != FrameKind::Function)
                .any(|f| f.stop.is_some())
    }

    pub(crate) fn leaf(&self, (var, index): (VarId, usize)) -> Val {
        let leaves = self.scopes.vars[var.0 as usize].val.leaves();
        leaves.get(index).map_or(Val::Error, |leaf| (*leaf).clone())
    }

    pub(crate) fn set_leaf(&mut self, (var, index): (VarId, usize), val: Val) {
        let slot = &mut self.scopes.vars[var.0 as usize].val;
        let mut leaves: Vec<_> = slot.leaves().into_iter().cloned().collect();
        if let Some(leaf) = leaves.get_mut(index) {
            *leaf = val;
        }
        *slot = slot.with_leaves(&mut leaves.into_iter());
    }

    /// `for pat in range { .. }`
    pub(crate) fn for_loop(
        &mut self,
        label: Option<&str>,
        pat: &Pat,
        iter: &Expr,
        body: &Block,
        env: Env,
        loc: Loc,
    ) -> Val {
        let val = self.plain_expr(iter, env);
        if self.dead() || matches!(val, Val::Never) {
            // The loop is never come to.
            return Val::Never;
        }
        if let Val::Array(parts) = &val {
            return self.unrolled(label, pat, parts.to_vec(), iter.loc, body, env);
        }
        let Val::Range(range) = val else {
            if !matches!(val, Val::Error) {
                let required = "`a..b`, `range(a, b, step)` or `unroll(..)`";
                self.report(
                    Code::Kind
                        .at(iter.loc, "a loop runs over a range")
                        .compare("", required, self.describe(&val))
                        .help("for i in range(0, n, 1)"),
                );
            }
            return self.unknown_turns(pat, body, env);
        };
        if self.has_both_ends(&range).is_none() {
            return self.unknown_turns(pat, body, env);
        }
        if range.unroll {
            let Some(iterations) = self.unrolled_iterations(&range) else {
                return self.unknown_turns(pat, body, env);
            };
            return self.unrolled(label, pat, iterations, iter.loc, body, env);
        }
        let Some((from, to, step, num)) = self.range_values(&range) else {
            return self.unknown_turns(pat, body, env);
        };
        for end in [from, to, step] {
            self.note_use(end, loc, iter.loc);
        }
        let iv = self.new_num(None, num, pat.loc);
        let val = self.run_loop(
            &LoopKind::For { from, to, step, iv },
            label,
            &body.exprs().collect::<Vec<_>>(),
            env,
            loc,
            &mut |builder| {
                let inner = builder.scopes.child(env);
                builder.bind_pattern(pat, Val::Value(iv), inner);
                builder.block_in(body, inner);
            },
        );
        if let Some(stages) = range.stages
            && let Some(Stmt { kind: StmtKind::For { body, .. }, .. }) =
                self.regions.last_mut().and_then(|region| region.stmts.last_mut())
        {
            body.pipeline(stages, range.loc);
        }
        val
    }

    /// The body of a loop over something that was reported: looked at, for its own problems.
    fn unknown_turns(&mut self, pat: &Pat, body: &Block, env: Env) -> Val {
        self.look_at(&mut |builder| {
            let inner = builder.scopes.child(env);
            builder.bind_pattern(pat, Val::Error, inner);
            builder.block_in(body, inner);
        });
        Val::Error
    }

    /// Both ends and the step of a range as values of one integer type, or a report.
    fn range_values(&mut self, range: &RangeVal) -> Option<(Value, Value, Value, Num)> {
        if let Val::Const(Const::Int(0), _) = range.step {
            self.error(Code::Overflow, range.loc, "a loop with step 0 never ends");
            return None;
        }
        let (from, to, step) = (
            self.value(&range.from, range.loc)?,
            self.value(&range.to, range.loc)?,
            self.value(&range.step, range.loc)?,
        );
        for (index, end) in [from, to, step].into_iter().enumerate() {
            let headline = "the bounds of a range are scalars";
            if let Some(diagnostic) = self.no_scalar(None, end, headline, range.loc) {
                return self.refuse(diagnostic.of_operand(index, None));
            }
            if !self.is_scalar(end) {
                let actual = self.describe(&Val::Value(end));
                let diagnostic = Code::Kind.at(range.loc, headline);
                let diagnostic = diagnostic.compare("", "a scalar", actual);
                return self.refuse(diagnostic.of_operand(index, None));
            }
        }
        let num = self.unify(self.num(from), self.num(to), "a range", range.loc)?;
        self.unify(num, self.num(step), "a range", range.loc)?;
        if self.cells.is_float(num) {
            self.error(Code::Kind, range.loc, "a range counts integers");
            return None;
        }
        Some((from, to, step, num))
    }

    fn unrolled_iterations(&mut self, range: &RangeVal) -> Option<Vec<Val>> {
        let from = self.const_int(&range.from, "the start of an unrolled loop", range.loc)?;
        let to = self.const_int(&range.to, "the end of an unrolled loop", range.loc)?;
        let step = self.const_int(&range.step, "the step of an unrolled loop", range.loc)?;
        let Val::Const(_, num) = range.from else { return None };
        if let Val::Const(_, other) = &range.to {
            let _ = self.cells.unify(num, *other);
        }
        // What `unroll` takes counts in `i32`.
        let _ = self.cells.unify(num, Num::Known(crate::ir::Dtype::I32));
        let length = match step.signum() {
            0 => None,
            sign => Some(((to - from) * sign).max(0) / step.abs()),
        };
        if length.is_none_or(|length| length > 4096) {
            return self.refuse(
                Code::Unbounded.at(range.loc,
                    "an unrolled loop of this length is not compiled",
                )
                .compare(
                    "iterations",
                    "at most 4096",
                    length.map_or("no end".to_owned(), |length| length.to_string()),
                )
                .why("`unroll` writes the body out once for each iteration; without it, the loop runs on the device")
                .help("for i in range(from, to, step)"),
            );
        }
        let mut iterations = Vec::new();
        let mut at = from;
        while (step > 0 && at < to) || (step < 0 && at > to) {
            iterations.push(Val::Const(Const::Int(at), num));
            at += step;
        }
        Some(iterations)
    }

    fn unrolled(
        &mut self,
        label: Option<&str>,
        pat: &Pat,
        iterations: Vec<Val>,
        at: Loc,
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
            unrolling: None,
        });
        let (count, before) = (iterations.len(), self.code_so_far());
        for (index, iteration) in iterations.into_iter().enumerate() {
            if !self.step(pat.loc) || self.terminated {
                break;
            }
            let frame = self.frames.last_mut().expect("pushed above");
            frame.unrolling = Some(Unrolling { loc: at, iteration: index + 1, iterations: count });
            let inner = self.scopes.child(env);
            self.bind_pattern(pat, iteration, inner);
            self.block_in(body, inner);
            let stop = self.frames.last_mut().expect("pushed above").stop.take();
            if stop == Some(Stop::Break) {
                break;
            }
        }
        self.frames.pop();
        self.count_unrolled(before, at);
        Val::Unit
    }

    /// `while condition { .. }`
    pub(crate) fn while_loop(
        &mut self,
        label: Option<&str>,
        condition: &Expr,
        body: &Block,
        env: Env,
        loc: Loc,
    ) -> Val {
        self.run_loop(
            &LoopKind::While,
            label,
            &body.exprs().chain([condition]).collect::<Vec<_>>(),
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
    pub(crate) fn plain_loop(
        &mut self,
        label: Option<&str>,
        body: &Block,
        env: Env,
        loc: Loc,
    ) -> Val {
        let text: Vec<_> = body.exprs().collect();
        self.run_loop(&LoopKind::Loop, label, &text, env, loc, &mut |builder| {
            builder.block(body, env);
        })
    }

    /// The body of a function with early returns.
    pub(crate) fn returning(&mut self, body: &Block, env: Env) -> Val {
        self.run_loop(
            &LoopKind::Function,
            None,
            &body.exprs().collect::<Vec<_>>(),
            env,
            body.loc,
            &mut |builder| {
                let val = builder.block_in(body, env);
                builder.give_back(&val, body.loc);
            },
        )
    }

    pub(crate) fn run_loop(
        &mut self,
        kind: &LoopKind,
        label: Option<&str>,
        text: &[&Expr],
        env: Env,
        loc: Loc,
        body: &mut dyn FnMut(&mut Self),
    ) -> Val {
        if self.dead() {
            return Val::Never;
        }
        if !self.steps_of(self.scopes.vars.len() / 8, loc) {
            return Val::Error;
        }
        let all = self.candidates(text, env);
        let before: Vec<((VarId, usize), Val)> =
            all.iter().map(|leaf| (*leaf, self.leaf(*leaf))).collect();
        let carried = if all.is_empty() {
            all
        } else {
            let vars = self.scopes.vars.clone();
            let (emitted, problems) = (self.emitted, self.problems.checkpoint());
            let (spoiled, doubt) = (self.scopes.spoiled.clone(), self.scopes.doubt.clone());
            let stmts = self.regions.last().expect("a region is open").stmts.len();
            let (_, _, frame) = self.iteration(kind, label, all.clone(), loc, body);
            self.scopes.vars = vars;
            if self.steps < crate::elaborate::MAX_STEPS {
                self.problems.rewind(problems);
                self.scopes.spoiled = spoiled;
                self.emitted = emitted;
                if !self.scopes.pending {
                    // What was reported is reported again.
                    self.scopes.doubt = doubt;
                }
            }
            self.regions.last_mut().expect("a region is open").stmts.truncate(stmts);
            all.into_iter()
                .zip(frame.changed)
                .filter(|(_, changed)| *changed)
                .map(|(leaf, _)| leaf)
                .collect()
        };
        let unset: Vec<bool> =
            self.scopes.vars.iter().map(|var| matches!(var.val, Val::Unit)).collect();
        let (inits, region, frame) = self.iteration(kind, label, carried.clone(), loc, body);
        // An iteration that ends in `return` passes its values nowhere: they do not exist after the loop.
        for (leaf, val) in before {
            if !carried.contains(&leaf) {
                self.set_leaf(leaf, val);
            }
        }
        self.first_values(&unset, loc);
        let mut results: Vec<Value> = Vec::new();
        for arg in &frame.args {
            let out = self.new_like(*arg, loc);
            results.push(out);
        }
        for (leaf, out) in carried.iter().zip(&results) {
            self.set_leaf(*leaf, Val::Value(*out));
        }
        let (region, val) = self.loop_values(region, &frame, &mut results, loc);
        match *kind {
            LoopKind::For { from, to, step, .. } => {
                self.push(StmtKind::For { from, to, step, inits, body: region, results }, loc);
                val
            }
            LoopKind::While | LoopKind::Loop | LoopKind::Function => {
                self.push(StmtKind::Loop { inits, body: region, results }, loc);
                if frame.values.is_empty() {
                    self.terminate(Terminator::Return);
                    return Val::Never;
                }
                val
            }
        }
    }

    /// What an iteration of a loop gives a variable that had no value before does not outlive the iteration.
    fn first_values(&mut self, unset: &[bool], loc: Loc) {
        for (index, unset) in unset.iter().enumerate() {
            let val = &self.scopes.vars[index].val;
            if *unset && !matches!(val, Val::Unit | Val::Error) {
                self.report(
                    Code::BranchTypes.at(loc,
                        "a variable from outside this loop gets its first value inside",
                    )
                    .why("the loop may run no iteration, so give the variable a value before the loop")
                    .help("let mut x = 0;"),
                );
                self.scopes.vars[index].val = Val::Error;
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
        let first = frame.values.iter().find(|val| matches!(val, Val::Error)).unwrap_or(first);
        let unit = matches!(first, Val::Unit | Val::Error);
        if unit || frame.values.iter().all(|val| val.same(first)) && is_static(first) {
            // Nothing is passed: drop what the breaks carry beyond the carried leaves.
            truncate_breaks(&mut region, 0, frame.carried.len());
            return (region, first.clone());
        }
        let mut leaves: Vec<Val> = Vec::new();
        let firsts: Vec<_> = first.leaves().into_iter().cloned().collect();
        for (index, leaf) in firsts.iter().enumerate() {
            let Some(example) = break_value(&region, 0, frame.carried.len() + index) else {
                leaves.push(leaf.clone());
                continue;
            };
            let out = self.new_like(example, loc);
            results.push(out);
            leaves.push(Val::Value(out));
        }
        (region, first.with_leaves(&mut leaves.into_iter()))
    }

    /// Builds the body once. Gives the initial values, the region, and what the frame saw.
    fn iteration(
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
            let arg = self.new_like(init, loc);
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
            kind: match kind {
                LoopKind::Function => FrameKind::Function,
                LoopKind::Loop => FrameKind::Loop,
                LoopKind::For { .. } | LoopKind::While => FrameKind::Iterations,
            },
            carried,
            args,
            changed,
            values: Vec::new(),
            regions: self.regions.len(),
            stop: None,
            unrolling: None,
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
                && (!(self.is_handle(value) || self.is_handle(arg))
                    || self.ty(value) == self.ty(arg))
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
    pub(crate) fn leave(&mut self, label: Option<&str>, val: &Val, loc: Loc) -> Val {
        if self.dead() {
            return Val::Never;
        }
        let Some(frame) = self.find_frame(label) else {
            return self.no_frame("`break` outside of the loop that it names", loc);
        };
        let kind = self.frames[frame].kind;
        let mut val = val;
        if kind != FrameKind::Loop && !matches!(val, Val::Unit | Val::Error | Val::Never) {
            self.report(
                Code::BranchTypes
                    .at(loc, "only `loop` can have a value, given by `break`")
                    .why("a `for` or `while` may end without a `break`")
                    .help("let mut found = 0; // before the loop\nfound = x;\nbreak;"),
            );
            val = &Val::Error;
        }
        if kind == FrameKind::Unrolled {
            return self.stop_unrolled(frame, Stop::Break, loc);
        }
        self.break_to(frame, val, loc)
    }

    fn no_frame(&mut self, headline: &str, loc: Loc) -> Val {
        // What is only looked at may belong to a loop or block that was refused.
        if self.only_looking > 0 {
            return Val::Never;
        }
        self.error(Code::Unsupported, loc, headline)
    }

    /// `return value`, or the end of a function with early returns.
    pub(crate) fn give_back(&mut self, val: &Val, loc: Loc) -> Val {
        if self.dead() {
            return Val::Never;
        }
        if let Some(frame) = self.frames.iter().rposition(|f| f.kind == FrameKind::Function) {
            return self.break_to(frame, val, loc);
        }
        if !matches!(val, Val::Unit) && !val.is_absent() {
            let what = self.describe(val);
            self.report(
                Code::Kind
                    .at(loc, "a kernel returns nothing")
                    .compare("", "`return;`", format!("`return` of {what}"))
                    .why("each block leaves its results in memory, where the next kernel and the host find them")
                    .help("out.tile([0], [64]).store(value);"),
            );
        }
        self.terminate(Terminator::Return);
        Val::Never
    }

    /// Whether two leaves can be one value, whichever way was taken.
    fn one_type(&mut self, a: &Val, b: &Val) -> bool {
        let form = |builder: &Self, val: &Val| {
            let num = builder.num_of(val)?;
            let Some(value) = val.value() else {
                return Some((Type::scalar(crate::ir::Dtype::Bool), (false, false), num));
            };
            let ty = builder.ty(value);
            // The element type may still be open: it is compared apart.
            let plain = match ty {
                Type::Shared(_) | Type::Barrier(_) | Type::TensorMemory(_) | Type::Error => {
                    ty.clone()
                }
                Type::Scalar(_) => Type::scalar(crate::ir::Dtype::Bool),
                Type::Tile(_, shape) => {
                    Type::Tile(crate::ir::Elem::Number(crate::ir::Dtype::Bool), shape.clone())
                }
            };
            Some((plain, (builder.is_ptr(value), builder.is_point(value)), num))
        };
        match (form(self, a), form(self, b)) {
            (Some((a, kind, num)), Some((b, other_kind, other))) => {
                a == b && kind == other_kind && self.cells.unify(num, other).is_ok()
            }
            // What is not a value at run time has to be the same thing.
            _ => a.same(b),
        }
    }

    fn break_to(&mut self, frame: usize, val: &Val, loc: Loc) -> Val {
        let mut values = self.edge(frame, loc);
        let val = self.plain(val.clone());
        for leaf in val.leaves() {
            if let Val::Const(..) | Val::Value(_) = leaf
                && let Some(value) = self.value(leaf, loc)
            {
                values.push(value);
            }
        }
        if let Some(first) = self.frames[frame].values.first().cloned() {
            let pairs = zip_leaves(&first, &val);
            let fits = pairs.is_some_and(|all| all.iter().all(|(a, b)| self.one_type(a, b)));
            if !fits {
                self.differing(&first, &val, loc);
                // What comes of the loop is not known.
                self.frames[frame].values[0] = Val::Error;
            }
        }
        let depth = self.depth(frame);
        self.terminate(Terminator::Break(depth, values));
        self.frames[frame].values.push(val);
        Val::Never
    }

    /// `continue 'label`
    pub(crate) fn next_turn(&mut self, label: Option<&str>, loc: Loc) -> Val {
        if self.dead() {
            return Val::Never;
        }
        let Some(frame) = self.find_frame(label) else {
            return self.no_frame("`continue` outside of the loop that it names", loc);
        };
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
            // Whether the condition is one of run time is not known of what is only looked at.
            if self.only_looking > 0 {
                self.frames[frame].stop = Some(stop);
                return Val::Never;
            }
            return self.report(
                Code::NotConstant
                    .at(loc, "an unrolled loop cannot be left under a run-time condition")
                    .why("its iterations are written out one after the other at compile time")
                    .help("use `for i in 0..n` without `unroll`"),
            );
        }
        self.frames[frame].stop = Some(stop);
        Val::Never
    }
}

/// A value without anything that exists only at run time.
fn is_static(val: &Val) -> bool {
    !val.leaves().iter().any(|leaf| matches!(leaf, Val::Const(..) | Val::Value(_)))
}

/// Drops what breaks out of the loop at `depth` pass beyond the first `keep` values.
fn truncate_breaks(region: &mut Region, depth: u32, keep: usize) {
    if let Terminator::Break(to, values) = &mut region.end
        && *to == depth
    {
        values.truncate(keep);
    }
    for stmt in &mut region.stmts {
        let depth = depth + u32::from(stmt.kind.is_loop());
        for region in stmt.kind.regions_mut() {
            truncate_breaks(region, depth, keep);
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
    region.stmts.iter().find_map(|stmt| {
        let depth = depth + u32::from(stmt.kind.is_loop());
        stmt.kind.regions().into_iter().find_map(|region| break_value(region, depth, index))
    })
}
