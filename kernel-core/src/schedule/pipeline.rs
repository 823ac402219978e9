//! Software pipelining: the copies of later turns run while this one computes.
//!
//! A loop over `pipeline(range, stages)` says, and means,
//!
//! ```text
//! for k { copy_async .. -> s; staged(stages); .. use of s ..; sync }
//! ```
//!
//! where `staged` waits for the copies of the turn. This pass gives each buffer that the copies fill `stages` places, a ring, and
//! starts the copies `stages - 1` turns ahead:
//!
//! ```text
//! for the first stages - 1 turns { if there is such a turn { copy_async .. -> s[turn] }; commit }
//! for k carry (read = 0, write = stages - 1) {
//!     wait(stages - 2); sync
//!     if there is a turn stages - 1 ahead { copy_async .. -> s[write] }; commit
//!     .. use of s[read] ..
//!     read, write = the next places
//! }
//! wait_all; sync
//! ```
//!
//! One barrier a turn is enough: it stands between the last use of a place, in the turn before, and the copy that
//! fills it again. Turns that do not exist copy nothing but close their group all the same, so that counting groups counts turns.

use std::collections::BTreeMap;

use la_arena::{Arena, ArenaMap};

use super::{bound_of, collect_constants, key, uses};
use crate::{
    diag::{Code, Diagnostic},
    ir::{
        Binary, Compare, Const, Dtype, Elem, Kernel, Op, Region, Shared, SharedData, Stmt,
        StmtKind, Terminator, Type, Value, ValueData,
    },
    loc::Loc,
};

/// What of a turn stands before [`Op::Staged`], and how many places the ring has.
struct Staged {
    at: usize,
    stages: u32,
}

fn staged(body: &Region) -> Option<Staged> {
    body.stmts.iter().enumerate().find_map(|(at, stmt)| {
        let StmtKind::Op { op: Op::Staged(stages), .. } = &stmt.kind else { return None };
        Some(Staged { at, stages: *stages })
    })
}

/// Puts [`Op::Staged`] behind the copies at the start of a turn, and a barrier at its end.
pub fn stage(body: &mut Region, stages: u32, loc: Loc) {
    let is_copy = |stmt: &Stmt| matches!(&stmt.kind, StmtKind::Op { op: Op::CopyAsync(_), .. });
    let head = body.stmts.iter().position(|stmt| !is_pure(stmt) && !is_copy(stmt));
    let head = &body.stmts[..head.unwrap_or(body.stmts.len())];
    let at = head.iter().rposition(is_copy).map_or(0, |last| last + 1);
    body.stmts.insert(at, effect(Op::Staged(stages), Vec::new(), loc));
    body.stmts.push(effect(Op::Sync, Vec::new(), loc));
}

fn is_pure(stmt: &Stmt) -> bool {
    matches!(&stmt.kind, StmtKind::Op { op, .. } if op.is_pure())
}

fn effect(op: Op, args: Vec<Value>, loc: Loc) -> Stmt {
    Stmt { kind: StmtKind::Op { op, args, result: None }, loc }
}

/// What keeps loops from being pipelined, one problem a loop.
pub fn check(kernel: &Kernel) -> Vec<Diagnostic> {
    let mut constants = BTreeMap::new();
    collect_constants(&kernel.body, &mut constants);
    let mut roots = BTreeMap::new();
    allocations(&kernel.body, &mut roots);
    let mut problems = Vec::new();
    each_loop(&kernel.body, &mut |stmt, step, body| {
        if let Some(found) = staged(body) {
            problems.extend(problem(kernel, stmt, step, body, &found, &constants, &roots));
        }
    });
    problems
}

/// How many stages the allocations that pipelined loops fill are kept for.
pub fn rings(kernel: &Kernel) -> ArenaMap<Shared, u32> {
    let mut roots = BTreeMap::new();
    allocations(&kernel.body, &mut roots);
    let mut rings = ArenaMap::default();
    each_loop(&kernel.body, &mut |_, _, body| {
        let Some(found) = staged(body) else { return };
        for stmt in &body.stmts[..found.at] {
            if let StmtKind::Op { op: Op::CopyAsync(_), args, .. } = &stmt.kind
                && let Some(root) = args.last().and_then(|window| roots.get(&key(*window)))
            {
                rings.insert(*root, found.stages);
            }
        }
    });
    rings
}

/// Calls `each` with every counted loop, the outer ones first.
fn each_loop(region: &Region, each: &mut impl FnMut(&Stmt, Value, &Region)) {
    for stmt in &region.stmts {
        match &stmt.kind {
            StmtKind::Op { .. }
            | StmtKind::Reduce { .. }
            | StmtKind::Scan { .. }
            | StmtKind::Ptx { .. } => {}
            StmtKind::If { then, otherwise, .. } => {
                each_loop(then, each);
                each_loop(otherwise, each);
            }
            StmtKind::For { step, body, .. } => {
                each(stmt, *step, body);
                each_loop(body, each);
            }
            StmtKind::Loop { .. } | StmtKind::Specialize { .. } => {
                stmt.kind.regions().into_iter().for_each(|body| each_loop(body, each));
            }
        }
    }
}

/// The allocation that each handle on a whole one stands for.
fn allocations(region: &Region, out: &mut BTreeMap<u32, Shared>) {
    for stmt in &region.stmts {
        match &stmt.kind {
            StmtKind::Op { op: Op::SharedAlloc(root), result: Some(result), .. } => {
                out.insert(key(*result), *root);
            }
            StmtKind::Op { .. }
            | StmtKind::Reduce { .. }
            | StmtKind::Scan { .. }
            | StmtKind::Ptx { .. } => {}
            StmtKind::If { then, otherwise, .. } => {
                allocations(then, out);
                allocations(otherwise, out);
            }
            StmtKind::For { .. } | StmtKind::Loop { .. } | StmtKind::Specialize { .. } => {
                stmt.kind.regions().into_iter().for_each(|body| allocations(body, out));
            }
        }
    }
}

const EXAMPLE: &str = "let s = shared::<f16>([64, 64]); // before the loop\n\
     for k in pipeline(range(0, a.dim(1), 64), 3) {\n    \
         copy_async(a.tile([i, k], [64, 64]), s); // copies first\n    \
         acc = dot(s.load(), b, acc);\n\
     }";

fn problem(
    kernel: &Kernel,
    stmt: &Stmt,
    step: Value,
    body: &Region,
    found: &Staged,
    constants: &BTreeMap<u32, i128>,
    roots: &BTreeMap<u32, Shared>,
) -> Option<Diagnostic> {
    let refuse = |loc: Loc, headline: &str, why: &str| {
        Some(Diagnostic::new(Code::Pipeline, loc, headline).why(why).help(EXAMPLE))
    };
    if constants.get(&key(step)).is_none_or(|step| *step <= 0) {
        return refuse(
            stmt.loc,
            "the step of a pipelined loop is not a positive constant",
            "copies start some turns ahead, and whether there is such a turn is asked by comparing with the end of the range",
        );
    }
    if let Some((exit, loc)) = body.stmts.iter().find_map(|stmt| early_exit(stmt, 0)) {
        return Some(exit.into_diagnostic(loc));
    }
    if !matches!(body.end, Terminator::Continue(0, _)) {
        let headline = "a pipelined loop is left in its first turn";
        let diagnostic = Diagnostic::new(Code::Pipeline, stmt.loc, headline);
        return Some(diagnostic.why("there is no later turn to copy for"));
    }
    let (head, rest) = body.stmts.split_at(found.at);
    let mut carried: Vec<Value> = body.args[1..].to_vec();
    let mut filled = Vec::new();
    for stmt in head {
        let StmtKind::Op { op, args, result } = &stmt.kind else { continue };
        let depends = args.iter().any(|arg| carried.contains(arg));
        if let (true, Some(result)) = (depends, result) {
            carried.push(*result);
        }
        if !matches!(op, Op::CopyAsync(_)) {
            continue;
        }
        if depends {
            return refuse(
                stmt.loc,
                "a copy of a pipelined loop depends on what the turn before computes",
                "it starts turns ahead, when that is not known yet",
            );
        }
        let window = args.last().expect("a copy has a target");
        let Some(&root) = roots.get(&key(*window)) else {
            return refuse(
                stmt.loc,
                "a copy of a pipelined loop fills part of an allocation",
                "each allocation that the copies fill is kept once for every stage, so it is filled as a whole",
            );
        };
        if kernel.shared[root].shape.len() > 2 {
            return refuse(
                stmt.loc,
                "a copy of a pipelined loop fills a ring",
                "the ring is made by `pipeline`: the allocation holds one stage",
            );
        }
        filled.push((*window, root));
    }
    if filled.is_empty() {
        return refuse(
            stmt.loc,
            "a pipelined loop does not begin with copies",
            "what is pipelined are the asynchronous copies at the start of a turn; everything before the last of them only computes where they read",
        );
    }
    if let Some(other) = first(rest, &|op| {
        matches!(op, Op::CopyAsync(_) | Op::CopyCommit | Op::CopyWait(_) | Op::CopyWaitAll)
    }) {
        return refuse(
            other,
            "a pipelined loop starts or waits for copies by itself",
            "`pipeline` counts the groups of copies and waits for them; copies stand at the start of the turn",
        );
    }
    // The ring exists for the loop alone: elsewhere nobody could say which stage is meant.
    let outside = |value: Value| {
        let inside = mentions(std::slice::from_ref(stmt), value);
        mentions(&kernel.body.stmts, value) > inside
    };
    filled.iter().find(|(window, _)| outside(*window)).and_then(|(_, root)| {
        refuse(
            kernel.shared[*root].loc,
            "an allocation that a pipelined loop fills is used outside the loop",
            "it is a ring of stages, and outside the loop none of them is the current one",
        )
    })
}

/// How a turn ends before its end.
enum Exit {
    /// The next turn follows.
    NextTurn,
    /// The loop ends.
    Loop,
    /// The kernel ends.
    Kernel,
}

impl Exit {
    fn into_diagnostic(self, loc: Loc) -> Diagnostic {
        let (headline, why, help) = match self {
            Exit::NextTurn => (
                "a turn of a pipelined loop is cut short",
                "every turn runs to its end, where the places of the ring move on; what a turn leaves out stands in an `if`",
                "if !skipped { // instead of `if skipped { continue; }`\n    acc = dot(s.load(), b, acc);\n}",
            ),
            Exit::Loop => (
                "a pipelined loop is left before its range ends",
                "copies of later turns are under way already; how many turns there are is known before the first",
                "for k in pipeline(range(0, end, 64), 3) { .. } // `end` in place of `break`",
            ),
            Exit::Kernel => (
                "a kernel ends inside a pipelined loop",
                "copies of later turns are under way already; whether to return is asked before the loop or behind it",
                "if wanted { // in place of `return`\n    for k in pipeline(range(0, n, 64), 3) { .. }\n}",
            ),
        };
        Diagnostic::new(Code::Pipeline, loc, headline).why(why).help(help)
    }
}

/// The first branch of a statement that ends a turn of the loop `depth` levels up.
fn early_exit(stmt: &Stmt, depth: u32) -> Option<(Exit, Loc)> {
    let within = |region: &Region, depth: u32| {
        let inner = region.stmts.iter().find_map(|stmt| early_exit(stmt, depth));
        let at_end = || match &region.end {
            Terminator::Return => Some((Exit::Kernel, stmt.loc)),
            Terminator::Continue(to, _) if *to == depth => Some((Exit::NextTurn, stmt.loc)),
            Terminator::Break(to, _) | Terminator::Continue(to, _) if *to >= depth => {
                Some((Exit::Loop, stmt.loc))
            }
            Terminator::Break(..) | Terminator::Continue(..) | Terminator::Yield(_) => None,
        };
        inner.or_else(at_end)
    };
    match &stmt.kind {
        StmtKind::Op { .. }
        | StmtKind::Reduce { .. }
        | StmtKind::Scan { .. }
        | StmtKind::Ptx { .. } => None,
        StmtKind::If { then, otherwise, .. } => {
            within(then, depth).or_else(|| within(otherwise, depth))
        }
        StmtKind::For { body, .. } | StmtKind::Loop { body, .. } => within(body, depth + 1),
        StmtKind::Specialize { .. } => unreachable!("building wants it outside of loops"),
    }
}

/// The place of the first operation of a kind, inner regions included.
fn first(stmts: &[Stmt], is: &dyn Fn(&Op) -> bool) -> Option<Loc> {
    stmts.iter().find_map(|stmt| match &stmt.kind {
        StmtKind::Op { op, .. } => is(op).then_some(stmt.loc),
        StmtKind::If { then, otherwise, .. } => {
            first(&then.stmts, is).or_else(|| first(&otherwise.stmts, is))
        }
        StmtKind::For { .. } | StmtKind::Loop { .. } | StmtKind::Specialize { .. } => {
            stmt.kind.regions().into_iter().find_map(|body| first(&body.stmts, is))
        }
        StmtKind::Reduce { .. } | StmtKind::Scan { .. } | StmtKind::Ptx { .. } => None,
    })
}

/// How often a value is used in statements.
fn mentions(stmts: &[Stmt], value: Value) -> usize {
    let mut all = Vec::new();
    for stmt in stmts {
        uses(&stmt.kind, &mut all);
    }
    all.iter().filter(|other| **other == value).count()
}

/// Turns every loop with [`Op::Staged`] into a ring.
///
/// # Requires
/// [`check`] found nothing.
pub fn pipeline(kernel: &mut Kernel) {
    let mut roots = BTreeMap::new();
    allocations(&kernel.body, &mut roots);
    let mut body = std::mem::take(&mut kernel.body);
    let mut pass = Pass {
        values: &mut kernel.values,
        shared: &mut kernel.shared,
        roots,
        constants: BTreeMap::new(),
    };
    collect_constants(&body, &mut pass.constants);
    pass.region(&mut body);
    kernel.body = body;
}

struct Pass<'k> {
    values: &'k mut Arena<ValueData>,
    shared: &'k mut Arena<SharedData>,
    roots: BTreeMap<u32, Shared>,
    constants: BTreeMap<u32, i128>,
}

/// Statements on their way into a region.
struct Out<'p, 'k> {
    pass: &'p mut Pass<'k>,
    stmts: Vec<Stmt>,
    loc: Loc,
}

impl Out<'_, '_> {
    fn op(&mut self, op: Op, args: Vec<Value>, ty: Type) -> Value {
        let result = self.pass.values.alloc(ValueData { ty, loc: self.loc });
        self.stmts
            .push(Stmt { kind: StmtKind::Op { op, args, result: Some(result) }, loc: self.loc });
        result
    }

    fn effect(&mut self, op: Op) {
        self.stmts.push(effect(op, Vec::new(), self.loc));
    }

    fn int(&mut self, value: i128, ty: &Type) -> Value {
        self.op(Op::Const(Const::Int(value)), Vec::new(), ty.clone())
    }

    fn index(&mut self, value: i128) -> Value {
        self.int(value, &Type::scalar(Dtype::I32))
    }

    /// One place of a ring.
    fn place(&mut self, ring: Value, at: Value) -> Value {
        let Type::Shared(whole) = self.pass.values[ring].ty.clone() else {
            unreachable!("a ring is shared memory")
        };
        let mut one = whole;
        one.shape.remove(0);
        self.op(Op::SharedIndex, vec![ring, at], Type::Shared(one))
    }
}

/// A loop that is being rewritten.
struct Ring<'a> {
    head: &'a [Stmt],
    iv: Value,
    /// The handles that the copies fill.
    windows: Vec<Value>,
}

impl Pass<'_> {
    fn region(&mut self, region: &mut Region) {
        let mut out = Vec::with_capacity(region.stmts.len());
        for mut stmt in std::mem::take(&mut region.stmts) {
            match &mut stmt.kind {
                StmtKind::Op { .. }
                | StmtKind::Reduce { .. }
                | StmtKind::Scan { .. }
                | StmtKind::Ptx { .. } => {}
                StmtKind::If { then, otherwise, .. } => {
                    self.region(then);
                    self.region(otherwise);
                }
                StmtKind::Loop { .. } | StmtKind::Specialize { .. } => {
                    stmt.kind.regions_mut().into_iter().for_each(|body| self.region(body));
                }
                StmtKind::For { body, .. } => {
                    self.region(body);
                    if let Some(found) = staged(body) {
                        self.rewrite(stmt, &found, &mut out);
                        continue;
                    }
                }
            }
            out.push(stmt);
        }
        region.stmts = out;
    }

    fn rewrite(&mut self, stmt: Stmt, found: &Staged, before: &mut Vec<Stmt>) {
        let StmtKind::For { from, to, step, mut inits, mut body, mut results } = stmt.kind else {
            unreachable!("only counted loops are staged")
        };
        let loc = stmt.loc;
        let stages = i128::from(found.stages);
        let mut stmts = std::mem::take(&mut body.stmts);
        let mut rest = stmts.split_off(found.at + 1);
        stmts.pop();
        // The barrier at the end of the turn: the one at the start of the next does its work.
        rest.pop();
        let head = stmts;
        let mut windows = Vec::new();
        for stmt in &head {
            if let StmtKind::Op { op: Op::CopyAsync(_), args, .. } = &stmt.kind {
                let window = *args.last().expect("a copy has a target");
                if !windows.contains(&window) {
                    windows.push(window);
                }
            }
        }
        for window in &windows {
            self.make_ring(*window, found.stages);
        }
        let iv = body.args[0];
        let ring = Ring { head: &head, iv, windows };
        let step_by = *self.constants.get(&key(step)).expect("check has seen the step");
        let counter = self.values[iv].ty.clone();

        let mut out = Out { pass: self, stmts: std::mem::take(before), loc };
        let mut limit = to;
        for ahead in 0..stages - 1 {
            let distance = out.int(ahead * step_by, &counter);
            let at = if ahead == 0 {
                from
            } else {
                limit = out.limit(to, ahead * step_by, &counter);
                out.op(Op::Binary(Binary::Add), vec![from, distance], counter.clone())
            };
            let place = out.index(ahead);
            out.copies(&ring, [from, limit], at, place);
        }
        let limit = out.limit(to, (stages - 1) * step_by, &counter);
        let (first_read, first_write) = (out.index(0), out.index(stages - 1));
        let last = out.index(stages - 1);
        let [zero, one] = [0, 1].map(|value| out.index(value));
        let distance = out.int((stages - 1) * step_by, &counter);
        *before = out.stmts;

        let index = Type::scalar(Dtype::I32);
        let [read, write] =
            [(); 2].map(|()| self.values.alloc(ValueData { ty: index.clone(), loc }));
        let mut out = Out { pass: self, stmts: Vec::new(), loc };
        let mut current = BTreeMap::new();
        for window in &ring.windows {
            current.insert(key(*window), out.place(*window, read));
        }
        // What computes without starting a copy: the rest of the turn may use it.
        let pure = head.iter().filter(|stmt| is_pure(stmt)).cloned().collect();
        let mut pure = Region { stmts: pure, ..Region::default() };
        replace(&mut pure, &current);
        out.stmts.append(&mut pure.stmts);
        let pending = u32::try_from(stages - 2).expect("a number of stages is small");
        out.effect(Op::CopyWait(pending));
        out.effect(Op::Sync);
        let next = out.op(Op::Binary(Binary::Add), vec![iv, distance], counter);
        out.copies(&ring, [iv, limit], next, write);
        let mut turn = Region { stmts: rest, ..Region::default() };
        replace(&mut turn, &current);
        out.stmts.append(&mut turn.stmts);
        let following = |out: &mut Out<'_, '_>, at: Value| {
            let wraps = out.op(Op::Compare(Compare::Eq), vec![at, last], Type::scalar(Dtype::Bool));
            let next = out.op(Op::Binary(Binary::Add), vec![at, one], index.clone());
            out.op(Op::Select, vec![wraps, zero, next], index.clone())
        };
        let next_read = following(&mut out, read);
        let next_write = following(&mut out, write);
        body.stmts = out.stmts;
        body.args.extend([read, write]);
        if let Terminator::Continue(0, values) = &mut body.end {
            values.extend([next_read, next_write]);
        }
        inits.extend([first_read, first_write]);
        results.extend([(); 2].map(|()| self.values.alloc(ValueData { ty: index.clone(), loc })));
        before.push(Stmt { kind: StmtKind::For { from, to, step, inits, body, results }, loc });
        before.push(effect(Op::CopyWaitAll, Vec::new(), loc));
        before.push(effect(Op::Sync, Vec::new(), loc));
    }

    /// Gives an allocation a place for each stage.
    fn make_ring(&mut self, window: Value, stages: u32) {
        let root = self.roots[&key(window)];
        self.shared[root].shape.insert(0, stages);
        if let Type::Shared(ty) = &mut self.values[window].ty {
            ty.shape.insert(0, stages);
        }
    }
}

impl Out<'_, '_> {
    /// What a turn is less than if there is one `distance` after it. See [`nearest_bound`](super::nearest_bound).
    fn limit(&mut self, to: Value, distance: i128, ty: &Type) -> Value {
        let Some(Elem::Number(dtype)) = ty.elem() else { unreachable!("loops count integers") };
        let bound = self.int(bound_of(dtype, distance), ty);
        let nearest = self.op(Op::Binary(Binary::Max), vec![to, bound], ty.clone());
        let distance = self.int(distance, ty);
        self.op(Op::Binary(Binary::Sub), vec![nearest, distance], ty.clone())
    }

    /// `if less[0] < less[1] { the copies of turn at, into a place }; commit`
    fn copies(&mut self, ring: &Ring<'_>, less: [Value; 2], at: Value, place: Value) {
        let condition = self.op(Op::Compare(Compare::Lt), less.to_vec(), Type::scalar(Dtype::Bool));
        let mut inner = Out { pass: &mut *self.pass, stmts: Vec::new(), loc: self.loc };
        let mut map = BTreeMap::from([(key(ring.iv), at)]);
        for window in &ring.windows {
            let one = inner.place(*window, place);
            map.insert(key(*window), one);
        }
        for stmt in ring.head {
            let StmtKind::Op { op, args, result } = &stmt.kind else { continue };
            let args =
                args.iter().map(|arg| map.get(&key(*arg)).copied().unwrap_or(*arg)).collect();
            let result = result.map(|old| {
                let data = inner.pass.values[old].clone();
                let new = inner.pass.values.alloc(data);
                map.insert(key(old), new);
                new
            });
            inner
                .stmts
                .push(Stmt { kind: StmtKind::Op { op: op.clone(), args, result }, loc: stmt.loc });
        }
        let then =
            Region { args: Vec::new(), stmts: inner.stmts, end: Terminator::Yield(Vec::new()) };
        let otherwise = Region { end: Terminator::Yield(Vec::new()), ..Region::default() };
        self.stmts.push(Stmt {
            kind: StmtKind::If { condition, then, otherwise, results: Vec::new() },
            loc: self.loc,
        });
        self.effect(Op::CopyCommit);
    }
}

/// Puts other values in the place of some, in every statement and region.
fn replace(region: &mut Region, map: &BTreeMap<u32, Value>) {
    let swap = |values: &mut Vec<Value>| {
        for value in values {
            if let Some(new) = map.get(&key(*value)) {
                *value = *new;
            }
        }
    };
    for stmt in &mut region.stmts {
        match &mut stmt.kind {
            StmtKind::Op { args, .. }
            | StmtKind::Reduce { args, .. }
            | StmtKind::Scan { args, .. }
            | StmtKind::Ptx { args, .. } => swap(args),
            StmtKind::If { then, otherwise, .. } => {
                replace(then, map);
                replace(otherwise, map);
            }
            StmtKind::For { inits, body, .. } | StmtKind::Loop { inits, body, .. } => {
                swap(inits);
                replace(body, map);
            }
            StmtKind::Specialize { .. } => {
                stmt.kind.regions_mut().into_iter().for_each(|body| replace(body, map));
            }
        }
    }
    match &mut region.end {
        Terminator::Return => {}
        Terminator::Yield(values)
        | Terminator::Continue(_, values)
        | Terminator::Break(_, values) => swap(values),
    }
}
