//! Named barriers: `named_barrier(warps)`, at which warps of several partitions meet.

use la_arena::ArenaMap;

use crate::{
    diag::{Code, Diagnostic},
    elaborate::{Builder, language::value::Val},
    ir::{Const, Kernel, Named, NamedData, NamedOp, Op, Region, StmtKind},
    loc::Loc,
    syntax::Segment,
};

/// Warps of a block (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
const MOST_WARPS: i128 = 32;

impl Builder<'_> {
    /// `named_barrier(warps)`
    pub(crate) fn named_barrier(&mut self, warps: &Val, at: Loc, loc: Loc) -> Val {
        if self.conditional > 0 {
            return self.report(
                Diagnostic::new(
                    Code::SharedInLoop,
                    loc,
                    "a named barrier is made inside a loop or branch",
                )
                .why("a block has 16 of them, and which one this is is settled when compiling")
                .help(format!(
                    "let meeting = named_barrier({}); // before the loop",
                    match warps {
                        Val::Const(Const::Int(warps), _) => *warps,
                        _ => i128::from(self.warps),
                    }
                )),
            );
        }
        // Who comes is the body's to say: most often all of its warps.
        let what = "the warps of a named barrier";
        let Some(count) = self.const_int_or(warps, what, at, "num_warps()") else {
            return Val::Error;
        };
        match u32::try_from(count) {
            Ok(warps) if (1..=MOST_WARPS).contains(&count) => {
                Val::Named(self.named.alloc(NamedData { warps, loc }))
            }
            _ => self.report(
                Diagnostic::new(
                    Code::NamedBarrier,
                    at,
                    format!("no phase of a named barrier ends after {count} warps"),
                )
                .compare("warps", format!("1 to {MOST_WARPS}"), count.to_string())
                .why("a phase ends when so many warps of the block have come, those that wait and those that only arrive"),
            ),
        }
    }

    /// A method of a named barrier.
    pub(crate) fn named_method(
        &mut self,
        named: Named,
        name: &Segment,
        vals: &[Val],
        loc: Loc,
    ) -> Val {
        let op = match name.name.as_str() {
            "sync" => NamedOp::Sync,
            "arrive" => NamedOp::Arrive,
            _ => return self.no_method(&Val::Named(named), name, vals, &["sync", "arrive"]),
        };
        if !vals.is_empty() {
            let form = format!(".{}()", name.name);
            return self.count(name, 0, vals.len(), Some(form), loc);
        }
        self.op(Op::Named(op, named), Vec::new(), None, loc);
        Val::Unit
    }
}

/// The warps that come to a named barrier, partition by partition, each with the first place where it does.
type Comers = ArenaMap<Named, Vec<(u32, Loc)>>;

/// Named barriers that a block does not have, or whose phases never end.
pub(crate) fn check(kernel: &Kernel) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    let most = kernel.most_named() as usize;
    if let Some((_, data)) = kernel.named.iter().nth(most) {
        problems.push(
            Diagnostic::new(
                Code::NamedBarrier,
                data.loc,
                "a block does not have so many named barriers",
            )
            .compare("named barriers", format!("at most {most}"), kernel.named.len().to_string())
            .why("a block has 16; the kernel's own warps meet at one, all of them together at another where they are specialised, and each partition of more than one warp at one of its own"),
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
                    "more warps come to this named barrier than it counts",
                )
                .compare("warps", format!("at most {}", data.warps), warps.to_string())
                .place(data.loc, "the barrier is made here")
                .why("every warp of a partition comes by: a phase would end before all of them have, and the others would count for the next")
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
                    "too few warps come to this named barrier",
                )
                .compare("warps", data.warps.to_string(), all.to_string())
                .place(data.loc, "the barrier is made here")
                .why("a phase ends when so many warps have come as the barrier counts: with these it never does"),
            );
        }
    }
    problems
}

/// Walks the parts of a kernel, each with its warps.
fn crews(kernel: &Kernel, body: &Region, comers: &mut Comers) {
    let mut own = ArenaMap::default();
    visit(body, &mut own);
    gather(own, kernel.warps, comers);
    for partition in kernel.specialized().map_or(&[][..], |found| found.partitions) {
        let mut inside = ArenaMap::default();
        visit(&partition.body, &mut inside);
        gather(inside, partition.warps, comers);
    }
}

fn gather(found: ArenaMap<Named, Loc>, warps: u32, comers: &mut Comers) {
    for (named, at) in found.iter() {
        comers.entry(named).or_default().push((warps, *at));
    }
}

/// The first place at which a region comes to each named barrier, other partitions aside.
fn visit(region: &Region, found: &mut ArenaMap<Named, Loc>) {
    for stmt in &region.stmts {
        match &stmt.kind {
            StmtKind::Op { op: Op::Named(_, named), .. } => {
                found.entry(*named).or_insert(stmt.loc);
            }
            StmtKind::Specialize { default, .. } => visit(default, found),
            StmtKind::Op { .. }
            | StmtKind::If { .. }
            | StmtKind::For { .. }
            | StmtKind::Loop { .. }
            | StmtKind::Reduce { .. }
            | StmtKind::Scan { .. }
            | StmtKind::Ptx { .. } => {
                stmt.kind.regions().into_iter().for_each(|inner| visit(inner, found));
            }
        }
    }
}
