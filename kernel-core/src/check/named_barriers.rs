//! Named barriers that a block does not have, or whose phases never end.

use la_arena::ArenaMap;

use crate::{
    diag::{Code, Diagnostic},
    ir::{Kernel, Named, Op, Region, StmtKind, SyncOp},
    loc::Loc,
};

/// The warps that come to a named barrier, partition by partition, each with the first place where it does.
type Comers = ArenaMap<Named, Vec<(u32, Loc)>>;

/// Named barriers that a block does not have, or whose phases never end.
pub(super) fn check(kernel: &Kernel) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    let most = kernel.most_named() as usize;
    if let Some((_, data)) = kernel.named.iter().nth(most) {
        problems.push(
            Diagnostic::new(
                Code::NamedBarrier,
                data.loc,
                "a block has only 16 named barriers",
            )
            .compare("named barriers", format!("at most {most}"), kernel.named.len().to_string())
            .why("the kernel's own warps use one of the 16; with `warp_specialize`, all warps together use another, and each partition of more than one warp its own"),
        );
    }
    let mut comers = Comers::default();
    crews(kernel, &kernel.body, &mut comers);
    for (named, data) in kernel.named.iter() {
        let Some(coming) = comers.get(named) else { continue };
        let all: u32 = coming.iter().map(|(warps, _)| warps).sum();
        if let Some((warps, at)) = coming.iter().find(|(warps, _)| *warps > data.warps) {
            problems.push(
                Diagnostic::new(
                    Code::NamedBarrier,
                    *at,
                    "more warps arrive at this named barrier than it counts",
                )
                .compare("warps", format!("at most {}", data.warps), warps.to_string())
                .place(data.loc, "the barrier is created here")
                .why("every warp of a partition arrives; with more warps than the barrier counts, the rest would count for the next phase")
                .help(format!("named_barrier({all})")),
            );
            continue;
        }
        if all < data.warps {
            let (_, at) = coming[0];
            problems.push(
                Diagnostic::new(
                    Code::NamedBarrier,
                    at,
                    "too few warps arrive at this named barrier",
                )
                .compare("warps", data.warps.to_string(), all.to_string())
                .place(data.loc, "the barrier is created here")
                .why("a phase ends when as many warps have arrived as the barrier counts: with these it never does"),
            );
        }
    }
    problems
}

/// Walks the parts of a kernel, each with its warps.
fn crews(kernel: &Kernel, body: &Region, comers: &mut Comers) {
    let mut own = ArenaMap::default();
    visit(body, &mut own);
    gather(&own, kernel.warps, comers);
    for partition in kernel.specialized().map_or(&[][..], |found| found.partitions) {
        let mut inside = ArenaMap::default();
        visit(&partition.body, &mut inside);
        gather(&inside, partition.warps, comers);
    }
}

fn gather(found: &ArenaMap<Named, Loc>, warps: u32, comers: &mut Comers) {
    for (named, at) in found.iter() {
        comers.entry(named).or_default().push((warps, *at));
    }
}

/// The first place at which a region comes to each named barrier, other partitions aside.
fn visit(region: &Region, found: &mut ArenaMap<Named, Loc>) {
    for stmt in &region.stmts {
        if let StmtKind::Op { op: Op::Sync(SyncOp::Named(_, named)), .. } = &stmt.kind {
            found.entry(*named).or_insert(stmt.loc);
        }
        let splits = matches!(stmt.kind, StmtKind::Specialize { .. });
        let own = if splits { 1 } else { usize::MAX };
        stmt.kind.regions().into_iter().take(own).for_each(|inner| visit(inner, found));
    }
}
