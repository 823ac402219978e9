//! Reads and writes of tensor memory that a product under way may still be changing.

use std::collections::BTreeMap;

use crate::{
    diag::{Code, Diagnostic},
    ir::{
        BarrierOp, Const, Kernel, Op, Region, Stmt, StmtKind, Tcgen05, TensorMemory,
        TensorMemoryOp, Terminator, Type, Value,
    },
    loc::Loc,
    schedule::{WALKED_AGAIN, nested_loops},
};

/// A product that was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Started {
    at: Loc,
    /// A commit has followed.
    committed: bool,
}

/// What the tensor cores do to an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Does {
    Reads,
    Writes,
}

/// What is under way on the way to a place of a partition.
type UnderWay = BTreeMap<(TensorMemory, Does), Started>;

/// The accesses of a kernel that no wait covers. Other partitions are not seen: what they have started, they say by barriers.
pub(super) fn check(kernel: &Kernel) -> Vec<Diagnostic> {
    followed(kernel).found
}

/// What is still under way at an end of the kernel or of a partition, and nobody can wait for.
pub(super) fn left(kernel: &Kernel) -> Option<Diagnostic> {
    let pass = followed(kernel);
    let started = pass.left.iter().find(|started| !(started.committed && pass.waits))?;
    let headline = "the kernel can end while what was started is under way";
    let why = "at its end a block gives back tensor memory, and shared memory as well, which the tensor cores would still write and read (PTX ISA, \"tcgen05.dealloc\")";
    Some(unwaited(*started, started.at, headline, why))
}

fn followed(kernel: &Kernel) -> Pass<'_> {
    let mut pass = Pass {
        kernel,
        found: Vec::new(),
        seen: Vec::new(),
        constants: BTreeMap::new(),
        left: Vec::new(),
        waits: false,
    };
    if !kernel.tensor_memory.is_empty() {
        let left = pass.region(&kernel.body, UnderWay::new());
        pass.left.extend(left.into_values());
    }
    pass
}

struct Pass<'a> {
    kernel: &'a Kernel,
    found: Vec<Diagnostic>,
    /// The places that were reported.
    seen: Vec<Loc>,
    constants: BTreeMap<Value, i128>,
    /// What is still under way where the kernel or a partition ends.
    left: Vec<Started>,
    /// Whether anybody waits for a barrier: for which one, and on which way, is not followed here.
    waits: bool,
}

impl Pass<'_> {
    fn root(&self, value: Value) -> Option<TensorMemory> {
        match self.kernel.ty(value) {
            Type::TensorMemory(window) => Some(self.kernel.tensor_columns(window.root)),
            Type::Scalar(_) | Type::Tile(..) | Type::Shared(_) | Type::Barrier(_) | Type::Error => {
                None
            }
        }
    }

    fn region(&mut self, region: &Region, mut under_way: UnderWay) -> UnderWay {
        for stmt in &region.stmts {
            match &stmt.kind {
                StmtKind::Op { op, args, result } => {
                    if let (Op::Const(Const::Int(value)), Some(result)) = (op, result) {
                        self.constants.insert(*result, *value);
                    }
                    self.op(op, args, stmt.loc, &mut under_way);
                }
                StmtKind::If { then, otherwise, .. } => {
                    let other = self.region(otherwise, under_way.clone());
                    under_way = joined(self.region(then, under_way), other);
                }
                StmtKind::For { body, .. } | StmtKind::Loop { body, .. } => {
                    if nested_loops(body) > WALKED_AGAIN {
                        let left = self.region(body, under_way.clone());
                        under_way = joined(under_way, left);
                        continue;
                    }
                    // Twice: an iteration begins with what the one before has left.
                    let once = self.region(body, under_way.clone());
                    let entered = joined(under_way, once.clone());
                    let twice = self.region(body, entered.clone());
                    let left = if self.has_an_iteration(&stmt.kind) { once } else { entered };
                    under_way = joined(left, twice);
                }
                StmtKind::Specialize { default, partitions, .. } => {
                    for partition in partitions {
                        let left = self.region(&partition.body, UnderWay::new());
                        self.left.extend(left.into_values());
                    }
                    let left = self.region(default, under_way);
                    self.left.extend(left.into_values());
                    under_way = UnderWay::new();
                }
                StmtKind::Reduce { .. } | StmtKind::Scan { .. } | StmtKind::Ptx { .. } => {}
            }
        }
        under_way
    }

    /// Whether a loop runs its body at least once, to the end.
    fn has_an_iteration(&self, stmt: &StmtKind) -> bool {
        let StmtKind::For { from, to, step, body, .. } = stmt else { return false };
        let [Some(from), Some(to), Some(step)] = [from, to, step].map(|at| self.constants.get(at))
        else {
            return false;
        };
        from < to && *step > 0 && runs_through(body)
    }

    fn op(&mut self, op: &Op, args: &[Value], loc: Loc, under_way: &mut UnderWay) {
        let started = Started { at: loc, committed: false };
        match op {
            Op::Tcgen05(Tcgen05::Mma { .. }) => {
                let read = [Some(&args[0]), args.get(4), args.get(5)].into_iter().flatten();
                let read = read.filter_map(|&value| self.root(value));
                under_way.extend(read.map(|root| ((root, Does::Reads), started)));
                under_way.extend(self.root(args[2]).map(|root| ((root, Does::Writes), started)));
            }
            Op::Tcgen05(Tcgen05::Copy { .. }) => {
                under_way.extend(self.root(args[1]).map(|root| ((root, Does::Writes), started)));
            }
            Op::Tcgen05(Tcgen05::Commit { .. }) => {
                for started in under_way.values_mut() {
                    started.committed = true;
                }
            }
            Op::Barrier(BarrierOp::Wait | BarrierOp::Test) => {
                self.waits = true;
                under_way.retain(|_, started| !started.committed);
            }
            Op::TensorMemory(access @ (TensorMemoryOp::Load | TensorMemoryOp::Store)) => {
                // What is only read may be read.
                let of = |does| {
                    let root = self.root(args[0])?;
                    let asked = does == Does::Writes || *access == TensorMemoryOp::Store;
                    under_way.get(&(root, does)).copied().filter(|_| asked)
                };
                let started = of(Does::Writes).or_else(|| of(Does::Reads));
                if let Some(started) = started
                    && !self.seen.contains(&loc)
                {
                    self.seen.push(loc);
                    self.found.push(refusal(*access, started, loc));
                }
            }
            _ => {}
        }
    }
}

/// Whether nothing in a branch or in the body of a loop leaves it before its end.
fn runs_through(region: &Region) -> bool {
    let inside = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Loop { .. } => false,
        kind => kind.regions().into_iter().all(runs_through),
    };
    matches!(region.end, Terminator::Continue(0, _) | Terminator::Yield(_))
        && region.stmts.iter().all(inside)
        && !region.stmts.iter().any(continues)
}

/// Whether a branch goes on with the next iteration of the loop that it is in.
fn continues(stmt: &Stmt) -> bool {
    let StmtKind::If { then, otherwise, .. } = &stmt.kind else { return false };
    [then, otherwise].iter().any(|branch| !matches!(branch.end, Terminator::Yield(_)))
}

fn joined(mut one: UnderWay, other: UnderWay) -> UnderWay {
    for (root, started) in other {
        one.entry(root)
            .and_modify(|known| {
                if !started.committed {
                    *known = started;
                }
            })
            .or_insert(started);
    }
    one
}

fn refusal(access: TensorMemoryOp, started: Started, loc: Loc) -> Diagnostic {
    let verb = if access == TensorMemoryOp::Load { "read" } else { "written" };
    let headline = format!("tensor memory is {verb} while what was started may still be under way");
    let why = "one thread starts products, and all go on; a barrier says when the tensor cores are done (PTX ISA, \"tcgen05.commit\")";
    unwaited(started, loc, &headline, why).place(started.at, "started here")
}

/// What was started and nobody has waited for.
fn unwaited(started: Started, at: Loc, headline: &str, why: &str) -> Diagnostic {
    let (actual, help) = if started.committed {
        ("committed, and not waited for", "bar.wait(0);")
    } else {
        ("not committed to a barrier", "tcgen05::commit(bar); bar.wait(0);")
    };
    Diagnostic::new(Code::InFlight, at, headline)
        .compare("", "`tcgen05::commit(bar)`, and a wait for `bar`", actual)
        .why(why)
        .help(help)
}
