//! What `ptx!` reads of the thread may not decide for the block: see [`Kernel::per_thread`].

use std::collections::BTreeMap;

use la_arena::ArenaMap;

use super::{Builder, value::ViewVal};
use crate::{
    diag::{Code, Diagnostic},
    ir::{BarrierOp, Kernel, Op, Region, Stmt, StmtKind, Value},
    loc::Loc,
};

/// Where a value decides for the block.
#[derive(Clone, Debug)]
struct Use {
    /// The condition, the range, the coordinate.
    at: Loc,
    /// In a function: where the kernel calls it, and its name.
    call: Option<(Loc, String)>,
}

/// The uses of a kernel, by statement and value. The IR has one place for a statement, which is that of all of its operands.
#[derive(Debug, Default)]
pub(super) struct Uses(BTreeMap<(Loc, la_arena::RawIdx), Use>);

impl Uses {
    /// Where an operand of a statement is written.
    pub(super) fn place(&self, stmt: Loc, value: Value) -> Loc {
        self.find(stmt, value).map_or(stmt, |found| found.at)
    }

    fn find(&self, stmt: Loc, value: Value) -> Option<&Use> {
        self.0.get(&(stmt, value.into_raw()))
    }
}

impl Builder<'_> {
    /// The value decides in the statement at `stmt`, where it is written at `at`.
    pub(super) fn note_use(&mut self, value: Value, stmt: Loc, at: Loc) {
        let call = self.calls.first().map(|call| (call.loc, call.function.name.name.clone()));
        self.uses.0.entry((stmt, value.into_raw())).or_insert(Use { at, call });
    }

    /// The same for the coordinates of a window.
    pub(super) fn note_corner(&mut self, view: &ViewVal, stmt: Loc) {
        for (value, at) in view.corner().into_iter().flatten().zip(&view.places) {
            self.note_use(value, stmt, *at);
        }
    }
}

/// What decides for the block and is each thread's own.
pub(super) fn check(kernel: &Kernel, uses: &Uses) -> Vec<Diagnostic> {
    let own = kernel.per_thread();
    let mut problems = Vec::new();
    if own.iter().next().is_some() {
        find(&kernel.body, uses, &own, &mut problems);
    }
    problems
}

fn find(region: &Region, uses: &Uses, own: &ArenaMap<Value, Loc>, problems: &mut Vec<Diagnostic>) {
    let decide = |what: &str, values: &[Value], stmt: Loc, why: &str, help: &str| {
        let value = values.iter().find(|value| own.contains_idx(**value))?;
        let origin = *own.get(*value)?;
        let found = uses.find(stmt, *value);
        let at = found.map_or(stmt, |found| found.at);
        let mut diagnostic = Diagnostic::new(
            Code::PerThread,
            at,
            format!("{what} may differ from thread to thread"),
        );
        if let Some((call, name)) = found.and_then(|found| found.call.as_ref()) {
            diagnostic = diagnostic.place(*call, format!("called here as `{name}`"));
        }
        Some(
            diagnostic
                .place(origin, "`ptx!` may give each thread another value")
                .compare("", "one value for the block", "one for each thread")
                .why(why)
                .help(help),
        )
    };
    for Stmt { kind, loc } in &region.stmts {
        match kind {
            StmtKind::Op { op, args, .. } => {
                const COORDINATE: &str = "the coordinate of a window";
                const TOGETHER: &str = "a window is read and written by all threads together";
                let corner = &args[..args.len().saturating_sub(1)];
                problems.extend(match op {
                    Op::LoadTensor(_) => {
                        decide(COORDINATE, args, *loc, TOGETHER, "load(p + full([128], lane))")
                    }
                    Op::StoreTensor(_) => decide(
                        COORDINATE,
                        corner,
                        *loc,
                        TOGETHER,
                        "store(p + full([128], lane), x)",
                    ),
                    Op::CopyAsync(_) => decide(
                        COORDINATE,
                        corner,
                        *loc,
                        "a window is copied by all threads together",
                        "s.store(load(p + full([128], lane)))",
                    ),
                    Op::SharedIndex => decide(
                        "the index into shared memory",
                        args,
                        *loc,
                        "a buffer is read and written by all threads together",
                        "select(full([64, 64], lane).eq(0), s[0].load(), s[1].load())",
                    ),
                    Op::SharedRemote | Op::Barrier(BarrierOp::Remote) => decide(
                        "the rank of a block",
                        args,
                        *loc,
                        "a window of another block is read and written by all threads together",
                        "tile.of_block(cluster::rank() ^ 1)",
                    ),
                    Op::Bulk(_) => decide(
                        "the address of a bulk copy",
                        &args[..1],
                        *loc,
                        "one thread starts the copy for all",
                        "bulk::load(p + block_id(0) * 256, bar, tile)",
                    ),
                    _ => None,
                });
            }
            StmtKind::If { condition, then, otherwise, .. } => {
                problems.extend(decide(
                    "the condition",
                    &[*condition],
                    *loc,
                    "all threads of a block go one way: Kiln places barriers by it, which some would not reach",
                    "select(full([128], lane).eq(0), a, b)",
                ));
                find(then, uses, own, problems);
                find(otherwise, uses, own, problems);
            }
            StmtKind::For { from, to, step, body, .. } => {
                problems.extend(decide(
                    "the range of a loop",
                    &[*from, *to, *step],
                    *loc,
                    "all threads of a block take the same turns: Kiln places barriers by it, which some would not reach",
                    "for i in 0..32 { .. select(full([128], lane).gt(i), a, b) .. }",
                ));
                find(body, uses, own, problems);
            }
            StmtKind::Specialize { default, partitions, .. } => {
                find(default, uses, own, problems);
                for partition in partitions {
                    let taken: Vec<Value> =
                        partition.body.captured().into_iter().map(|(value, _)| value).collect();
                    problems.extend(decide(
                        "what a partition takes from outside",
                        &taken,
                        *loc,
                        "other threads run the partition, and none of them has the value of this one",
                        "partition(1).run(|| { let lane = ptx!(\"mov.u32 {out}, %laneid;\" => i32); .. })",
                    ));
                    find(&partition.body, uses, own, problems);
                }
            }
            StmtKind::Loop { body, .. } => find(body, uses, own, problems),
            StmtKind::Reduce { .. } | StmtKind::Scan { .. } | StmtKind::Ptx { .. } => {}
        }
    }
}
