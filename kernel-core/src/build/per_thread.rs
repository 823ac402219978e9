//! Values that each thread has for itself: what `ptx!` reads of the thread may not decide for the block.
//!
//! A scalar is one value for the whole block: conditions, the ends of loops and coordinates rely on it, and so do the barriers
//! that Kiln places. The result of `ptx!` may differ from thread to thread, and so may what is computed from it, also by way of
//! a tile, whose elements several threads may hold.

use la_arena::ArenaMap;

use crate::{
    diag::{Code, Diagnostic},
    ir::{Kernel, Op, Region, Stmt, StmtKind, Terminator, Value},
    loc::Loc,
};

/// Where such a value comes from.
#[derive(Default)]
struct Own {
    of: ArenaMap<Value, Loc>,
    changed: bool,
}

impl Own {
    fn mark(&mut self, value: Value, origin: Loc) {
        if !self.of.contains_idx(value) {
            self.of.insert(value, origin);
            self.changed = true;
        }
    }

    fn any(&self, values: &[Value]) -> Option<Loc> {
        values.iter().find_map(|value| self.of.get(*value).copied())
    }

    /// Every result follows from every source.
    fn mix(&mut self, sources: &[Value], results: &[Value]) {
        if let Some(origin) = self.any(sources) {
            for &result in results {
                self.mark(result, origin);
            }
        }
    }

    /// Each result is the source in its place.
    fn flow(&mut self, sources: &[Value], results: &[Value]) {
        for (&source, &result) in sources.iter().zip(results) {
            self.mix(&[source], &[result]);
        }
    }
}

/// The values that receive what a loop passes.
struct Around {
    args: Vec<Value>,
    results: Vec<Value>,
}

/// What decides for the block and is each thread's own.
pub(super) fn check(kernel: &Kernel) -> Vec<Diagnostic> {
    let mut own = Own::default();
    loop {
        own.changed = false;
        spread(&kernel.body, &mut own, &mut Vec::new());
        if !own.changed {
            break;
        }
    }
    let mut problems = Vec::new();
    if own.of.iter().next().is_some() {
        find(kernel, &kernel.body, &own, &mut problems);
    }
    problems
}

fn spread(region: &Region, own: &mut Own, loops: &mut Vec<Around>) {
    for Stmt { kind, loc } in &region.stmts {
        match kind {
            // One thread changes memory, and gives the others what it found.
            StmtKind::Op { op: Op::Atomic(_), .. } | StmtKind::Op { result: None, .. } => {}
            StmtKind::Op { args, result: Some(result), .. } => own.mix(args, &[*result]),
            StmtKind::Ptx { code, args, results } => {
                if !code.is_uniform() {
                    for &result in results {
                        own.mark(result, *loc);
                    }
                }
                own.mix(args, results);
            }
            StmtKind::Reduce { args, results, .. } | StmtKind::Scan { args, results, .. } => {
                own.mix(args, results);
            }
            StmtKind::If { then, otherwise, results, .. } => {
                for side in [then, otherwise] {
                    spread(side, own, loops);
                    if let Terminator::Yield(values) = &side.end {
                        own.flow(values, results);
                    }
                }
            }
            StmtKind::For { inits, body, results, .. } => {
                let args = body.args.get(1..).unwrap_or_default().to_vec();
                turns(inits, body, Around { args, results: results.clone() }, own, loops);
            }
            StmtKind::Loop { inits, body, results } => {
                let around = Around { args: body.args.clone(), results: results.clone() };
                turns(inits, body, around, own, loops);
            }
        }
    }
    if let Terminator::Continue(depth, values) | Terminator::Break(depth, values) = &region.end
        && let Some(around) =
            loops.len().checked_sub(1 + *depth as usize).and_then(|at| loops.get(at))
    {
        own.flow(values, &around.args);
        own.flow(values, &around.results);
    }
}

fn turns(inits: &[Value], body: &Region, around: Around, own: &mut Own, loops: &mut Vec<Around>) {
    own.flow(inits, &around.args);
    own.flow(inits, &around.results);
    loops.push(around);
    spread(body, own, loops);
    loops.pop();
}

fn find(kernel: &Kernel, region: &Region, own: &Own, problems: &mut Vec<Diagnostic>) {
    let decide = |what: &str, values: &[Value], stmt: Loc, why: &str, help: &str| {
        let value = values.iter().find(|value| own.of.contains_idx(**value))?;
        let origin = *own.of.get(*value)?;
        // What `ptx!` gives is used where the statement is.
        let made = kernel.values[*value].loc;
        let at = if made == origin { stmt } else { made };
        Some(
            Diagnostic::new(
                Code::PerThread,
                at,
                format!("{what} may differ from thread to thread"),
            )
            .place(origin, "`ptx!` may give each thread another value")
            .compare("", "one value for the block", "one for each thread")
            .why(why)
            .help(help),
        )
    };
    for Stmt { kind, loc } in &region.stmts {
        match kind {
            StmtKind::Op { op, args, .. } => {
                let (what, values) = match op {
                    Op::LoadTensor(_) => ("the coordinate of a window", args.as_slice()),
                    Op::StoreTensor(_) | Op::CopyAsync(_) => {
                        ("the coordinate of a window", &args[..args.len().saturating_sub(1)])
                    }
                    Op::SharedIndex => ("the index into shared memory", args.as_slice()),
                    _ => continue,
                };
                problems.extend(decide(
                    what,
                    values,
                    *loc,
                    "a window is read and written by all threads together",
                    "load(p + full([128], lane))",
                ));
            }
            StmtKind::If { condition, then, otherwise, .. } => {
                problems.extend(decide(
                    "the condition",
                    &[*condition],
                    *loc,
                    "all threads of a block go one way: Kiln places barriers by it, which some would not reach",
                    "select(full([128], lane).eq(0), a, b)",
                ));
                find(kernel, then, own, problems);
                find(kernel, otherwise, own, problems);
            }
            StmtKind::For { from, to, step, body, .. } => {
                problems.extend(decide(
                    "the range of a loop",
                    &[*from, *to, *step],
                    *loc,
                    "all threads of a block take the same turns: Kiln places barriers by it, which some would not reach",
                    "for i in 0..32 { .. select(full([128], lane).gt(i), a, b) .. }",
                ));
                find(kernel, body, own, problems);
            }
            StmtKind::Loop { body, .. } => find(kernel, body, own, problems),
            StmtKind::Reduce { .. } | StmtKind::Scan { .. } | StmtKind::Ptx { .. } => {}
        }
    }
}
