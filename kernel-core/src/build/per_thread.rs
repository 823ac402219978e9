//! What `ptx!` reads of the thread may not decide for the block: see [`Kernel::per_thread`].

use la_arena::ArenaMap;

use crate::{
    diag::{Code, Diagnostic},
    ir::{Kernel, Op, Region, Stmt, StmtKind, Value},
    loc::Loc,
};

/// What decides for the block and is each thread's own.
pub(super) fn check(kernel: &Kernel) -> Vec<Diagnostic> {
    let own = kernel.per_thread();
    let mut problems = Vec::new();
    if own.iter().next().is_some() {
        find(kernel, &kernel.body, &own, &mut problems);
    }
    problems
}

fn find(
    kernel: &Kernel,
    region: &Region,
    own: &ArenaMap<Value, Loc>,
    problems: &mut Vec<Diagnostic>,
) {
    let decide = |what: &str, values: &[Value], stmt: Loc, why: &str, help: &str| {
        let value = values.iter().find(|value| own.contains_idx(**value))?;
        let origin = *own.get(*value)?;
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
