//! Why loops cannot be pipelined.

use la_arena::ArenaMap;

use self::ahead::Ahead;
use crate::{
    diag::{Code, Diagnostic},
    elaborate::{Written, messages::own_code::NO_COPIES},
    ir::{
        BarrierOp, CopyOp, Elem, Kernel, Op, ProductOp, Region, Shared, Staged, Stmt, StmtKind,
        SyncOp, Tcgen05, Terminator, Tma, TmaKind, Value, filled,
    },
    loc::Loc,
};

mod ahead;
mod uses;

/// Whether all copies of a kernel are there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Copies {
    /// All of them.
    All,
    /// Some may have been refused.
    Some,
}

/// Why loops cannot be pipelined, one problem for each loop.
pub(super) fn check(kernel: &Kernel, written: &Written, copies: Copies) -> Vec<Diagnostic> {
    let constants = kernel.body.constants();
    let roots = kernel.body.allocations();
    let mut problems = Vec::new();
    kernel.body.each_stmt(&mut |stmt| {
        let StmtKind::For { step, body, .. } = &stmt.kind else { return };
        if let Some(found) = body.staged() {
            let pipelined = Loop { kernel, written, stmt, body, found, roots: &roots, copies };
            problems.extend(pipelined.problem(constants.get(*step).copied()));
        }
    });
    without_barrier(&kernel.body, &mut problems);
    problems
}

/// TMA copies that complete nowhere: what is not in a pipelined loop names its barrier.
fn without_barrier(region: &Region, problems: &mut Vec<Diagnostic>) {
    // In a pipelined loop, a copy that is not at the start of an iteration is one of its problems.
    if region.staged().is_some() {
        return;
    }
    for stmt in &region.stmts {
        if let StmtKind::Op {
            op: Op::Copy(CopyOp::Tma(Tma { kind: TmaKind::Staged, .. })), ..
        } = &stmt.kind
        {
            problems.push(
                Diagnostic::new(
                    Code::CopyOperands,
                    stmt.loc,
                    "this TMA copy has no barrier to complete on",
                )
                .compare("", "`copy_async(..).on(bar)`, or a copy at the start of an iteration of `pipeline(..)`", "neither")
                .why("threads wait for a TMA copy on an mbarrier; `pipeline` creates the mbarriers of its own copies")
                .help("copy_async(map.at([i, j]), tile).on(bar)"),
            );
        }
        for inner in stmt.kind.regions() {
            without_barrier(inner, problems);
        }
    }
}

const EXAMPLE: &str = "let s = shared::<f16>([64, 64]); // before the loop\n\
     for k in pipeline(range(0, a.dim(1), 64), 3) {\n    \
         copy_async(a.tile([i, k], [64, 64]), s); // copies first\n    \
         acc = dot(s.load(), b, acc);\n\
     }";

/// A loop that is to be pipelined.
struct Loop<'a> {
    kernel: &'a Kernel,
    written: &'a Written,
    stmt: &'a Stmt,
    body: &'a Region,
    found: Staged,
    roots: &'a ArenaMap<Value, Shared>,
    copies: Copies,
}

fn refuse(loc: Loc, headline: &str, why: &str) -> Diagnostic {
    Diagnostic::new(Code::Pipeline, loc, headline).why(why).help(EXAMPLE).exemplified()
}

impl Loop<'_> {
    fn problem(&self, step: Option<i128>) -> Option<Diagnostic> {
        if step.is_none_or(|step| step <= 0) {
            return Some(refuse(
                self.stmt.loc,
                "the step of a pipelined loop is not a positive constant",
                "copies start some iterations ahead, and a comparison with the end of the range tells whether there is such an iteration",
            ));
        }
        if let Some(problem) = step.and_then(|step| self.reaches_too_far(step)) {
            return Some(problem);
        }
        if let Some((exit, loc)) = self.body.stmts.iter().find_map(|stmt| early_exit(stmt, 0)) {
            return Some(exit.into_diagnostic(loc));
        }
        if !matches!(self.body.end, Terminator::Continue(0, _)) {
            let headline = "a pipelined loop is left in its first iteration";
            let diagnostic = Diagnostic::new(Code::Pipeline, self.stmt.loc, headline);
            return Some(diagnostic.why("there is no later iteration to copy for"));
        }
        let (head, rest) = self.body.stmts.split_at(self.found.at);
        let mut ahead = Ahead::of(self.kernel, self.written, self.body);
        if let Some(problem) = ahead.problem(head) {
            return Some(problem);
        }
        let windows = match self.windows(head) {
            Ok(windows) => windows,
            Err(problem) => return Some(*problem),
        };
        if windows.is_empty() {
            return (self.copies == Copies::All).then(|| refuse(
                self.stmt.loc,
                NO_COPIES,
                "`pipeline` moves the asynchronous copies at the start of an iteration; everything before the last of them may only compute where they read",
            ));
        }
        let whole = (self.kernel, self.written);
        if let Some(problem) = uses::check(whole, &ahead, (head, rest)) {
            return Some(problem);
        }
        if let Some(other) = first(rest, &copies_by_itself) {
            return Some(self.copied_by_itself(rest, other));
        }
        let product = still_multiplied(rest);
        if product.is_some() {
            return product;
        }
        // The ring exists only for the loop: elsewhere no stage is the current one.
        let outside = |value: Value| {
            let inside = mentions(std::slice::from_ref(self.stmt), value);
            mentions(&self.kernel.body.stmts, value) > inside
        };
        windows.iter().find(|(window, _)| outside(*window)).map(|(window, root)| {
            let fills = |stmt: &&Stmt| {
                let pipelined = matches!(&stmt.kind, StmtKind::For { body, .. } if body.staged().is_some());
                pipelined && stmt.loc != self.stmt.loc && mentions(std::slice::from_ref(*stmt), *window) > 0
            };
            if let Some(other) = self.kernel.body.stmts.iter().find(fills) {
                let data = &self.kernel.shared[*root];
                return Diagnostic::new(Code::Pipeline, data.loc, "two pipelined loops fill this allocation")
                    .compare("", "an allocation for each pipelined loop", "one for two")
                    .place(self.stmt.loc, "one loop")
                    .place(other.loc, "the other loop")
                    .why("each loop makes a ring of stages of what it fills, with as many stages as it says")
                    .help(format!("let other = shared::<{}>({:?}); // before the second loop", data.dtype.name(), data.shape))
                    .exemplified();
            }
            refuse(
                self.kernel.shared[*root].loc,
                "an allocation that a pipelined loop fills is used outside the loop",
                "the allocation is a ring of stages, and outside the loop no stage is the current one",
            )
        })
    }

    /// The problem of copies that start further ahead than the loop variable counts.
    fn reaches_too_far(&self, step: i128) -> Option<Diagnostic> {
        let Some(Elem::Number(dtype)) = self.kernel.ty(self.body.args[0]).elem() else {
            unreachable!("loops count integers")
        };
        let (ahead, most) = (i128::from(self.found.stages - 1) * step, dtype.largest_int());
        let range = self.body.stmts[self.found.at].loc;
        let headline =
            "the copies of a pipelined loop start further ahead than its variable counts";
        (ahead > most).then(|| {
            Diagnostic::new(Code::Pipeline, range, headline)
                .compare("", format!("(stages - 1) * step is at most {most}"), ahead)
                .why(format!("the copies start `stages - 1` iterations ahead, and the variable of the loop is of type `{}`", dtype.name()))
        })
    }

    /// The problem of a copy, or a wait, in the rest of an iteration.
    fn copied_by_itself(&self, rest: &[Stmt], at: Loc) -> Diagnostic {
        let filled = filled(&self.body.stmts, &self.kernel.values);
        // The first statement of the rest is the mark between it and the copies.
        let before = rest[1..].iter().take_while(|stmt| !stmt.copies_ahead());
        let mut between = before.filter(|stmt| !stmt.goes_ahead(&filled)).collect::<Vec<_>>();
        if first(rest, &starts_copies) != Some(at) {
            between.clear();
        }
        let ends = between.iter().find(|stmt| !stmt.only_reads()).map(|stmt| stmt.loc);
        if let (None, Some(used)) = (ends, between.first()) {
            return refuse(
                at,
                "a copy of a pipelined loop comes after a use of what the loop copies",
                "the copy starts iterations ahead, when that data is not there yet: no copy depends on copied data, and none fills what the iteration has used before it",
            )
            .place(used.loc, "the data is used here");
        }
        refuse(
            at,
            "a pipelined loop starts or waits for copies by itself",
            "`pipeline` counts the groups of copies and waits for them; copies stand at the start of the iteration",
        )
        .place_if(ends, "the start of the iteration ends here")
    }

    /// The windows that the copies at the start of an iteration fill, with their allocations.
    fn windows(&self, head: &[Stmt]) -> Result<Vec<(Value, Shared)>, Box<Diagnostic>> {
        let (mut windows, mut problem) = (Vec::new(), None);
        let mut fill = |stmt: &Stmt, window: Value| {
            let root = self.roots.get(window).copied();
            let found = if root.is_some_and(|root| self.kernel.shared[root].shape.len() > 2) {
                refuse(
                    stmt.loc,
                    "a copy of a pipelined loop fills a ring",
                    "`pipeline` creates the ring: the allocation holds one stage",
                )
            } else if let Some(root) = root {
                return windows.push((window, root));
            } else {
                refuse(
                    stmt.loc,
                    "a copy of a pipelined loop fills part of an allocation",
                    "every stage has its own instance of each allocation that the copies fill, so a copy fills all of it; rows or pages in any order are one copy, of `tensor.tile_rows(..)`",
                )
            };
            problem.get_or_insert(found);
        };
        for stmt in head {
            stmt.each_copy_ahead(&mut fill);
        }
        problem.map_or(Ok(windows), |problem| Err(Box::new(problem)))
    }
}

/// Whether an operation starts copies that `pipeline` would count, or waits for such.
fn copies_by_itself(op: &Op) -> bool {
    starts_copies(op) || matches!(op, Op::Copy(CopyOp::Commit | CopyOp::Wait(_) | CopyOp::WaitAll))
}

fn starts_copies(op: &Op) -> bool {
    matches!(op, Op::Copy(CopyOp::Async(..) | CopyOp::Tma(Tma { kind: TmaKind::Staged, .. })))
}

/// How an iteration ends before its end.
enum Exit {
    /// The next iteration follows.
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
                "an iteration of a pipelined loop is cut short",
                "every iteration runs to its end, where the ring advances by one stage; put what an iteration leaves out into an `if`",
                "if !skipped { // instead of `if skipped { continue; }`\n    acc = dot(s.load(), b, acc);\n}",
            ),
            Exit::Loop => (
                "a pipelined loop is left before its range ends",
                "copies of later iterations are already in flight; the number of iterations is fixed before the first",
                "for k in pipeline(range(0, end, 64), 3) { .. } // `end` instead of `break`",
            ),
            Exit::Kernel => (
                "a kernel ends inside a pipelined loop",
                "copies of later iterations are already in flight; return before or after the loop",
                "if needed { // instead of `return`\n    for k in pipeline(range(0, n, 64), 3) { .. }\n}",
            ),
        };
        Diagnostic::new(Code::Pipeline, loc, headline).why(why).help(help).exemplified()
    }
}

/// The first branch of a statement that ends an iteration of the loop `depth` levels up.
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
        StmtKind::Specialize { .. } => unreachable!("elaborate requires it outside of loops"),
    }
}

/// The problem of products that are in flight at the end of an iteration, if there are any.
fn still_multiplied(stmts: &[Stmt]) -> Option<Diagnostic> {
    if let Some(at) = under_way(stmts, None) {
        return Some(still_reads(at, "acc = wgmma::wait(0, acc);"));
    }
    let started = by_tensor_cores(stmts, None)?;
    let help = match started {
        Started::Uncommitted(_) => "tcgen05::commit(done); done.wait(phase);",
        Started::Committed(_) => "done.wait(phase);",
    };
    Some(still_reads(started.at(), help))
}

/// The problem of a product that is in flight when its iteration ends.
fn still_reads(at: Loc, help: &str) -> Diagnostic {
    let headline = "a product is in flight at the end of a pipelined iteration";
    Diagnostic::new(Code::Pipeline, at, headline)
        .compare("", "a wait in the same iteration that leaves no product in flight", "none")
        .why("the next iteration starts a copy to the stage that the product reads")
        .help(help)
        .exemplified()
}

/// A product that may be in flight after statements, if that of `before` may be in flight before them.
fn under_way(stmts: &[Stmt], before: Option<Loc>) -> Option<Loc> {
    stmts.iter().fold(before, |open, stmt| match &stmt.kind {
        StmtKind::Op { op: Op::Product(ProductOp::Wgmma { .. }), .. } => Some(stmt.loc),
        StmtKind::Op { op: Op::Product(ProductOp::WgmmaWait(0)), .. } => None,
        StmtKind::Op { .. }
        | StmtKind::Reduce { .. }
        | StmtKind::Scan { .. }
        | StmtKind::Ptx { .. } => open,
        StmtKind::If { then, otherwise, .. } => {
            under_way(&then.stmts, open).or_else(|| under_way(&otherwise.stmts, open))
        }
        // There may be no iteration.
        StmtKind::For { body, .. } | StmtKind::Loop { body, .. } => {
            open.or_else(|| under_way(&body.stmts, open))
        }
        StmtKind::Specialize { .. } => unreachable!("elaborate requires it outside of loops"),
    })
}

/// A `tcgen05` operation that may be in flight: where it was started.
#[derive(Clone, Copy)]
enum Started {
    /// It is not committed to a barrier.
    Uncommitted(Loc),
    /// It is committed to a barrier.
    Committed(Loc),
}

impl Started {
    const fn at(self) -> Loc {
        match self {
            Started::Uncommitted(at) | Started::Committed(at) => at,
        }
    }
}

/// What may be in flight after statements, if that of `before` may be in flight before them. A wait is taken to be on the barrier of
/// the last commit.
fn by_tensor_cores(stmts: &[Stmt], before: Option<Started>) -> Option<Started> {
    let joined = |one: Option<Started>, other: Option<Started>| match (one, other) {
        (Some(Started::Committed(_)), Some(Started::Uncommitted(_))) | (None, _) => other,
        (Some(_), _) => one,
    };
    stmts.iter().fold(before, |open, stmt| match &stmt.kind {
        StmtKind::Op { op: Op::Product(ProductOp::Tcgen05(op)), .. } if op.is_by_tensor_cores() => {
            Some(Started::Uncommitted(stmt.loc))
        }
        StmtKind::Op { op: Op::Product(ProductOp::Tcgen05(Tcgen05::Commit { .. })), .. } => {
            open.map(|started| Started::Committed(started.at()))
        }
        StmtKind::Op { op: Op::Sync(SyncOp::Barrier(BarrierOp::Wait)), .. } => {
            open.filter(|started| matches!(started, Started::Uncommitted(_)))
        }
        StmtKind::Op { .. }
        | StmtKind::Reduce { .. }
        | StmtKind::Scan { .. }
        | StmtKind::Ptx { .. } => open,
        StmtKind::If { then, otherwise, .. } => {
            joined(by_tensor_cores(&then.stmts, open), by_tensor_cores(&otherwise.stmts, open))
        }
        // There may be no iteration.
        StmtKind::For { body, .. } | StmtKind::Loop { body, .. } => {
            joined(open, by_tensor_cores(&body.stmts, open))
        }
        StmtKind::Specialize { .. } => unreachable!("elaborate requires it outside of loops"),
    })
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
        all.extend(stmt.kind.mentioned());
    }
    all.iter().filter(|other| **other == value).count()
}
