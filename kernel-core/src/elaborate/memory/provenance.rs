//! Where addresses come from: no store goes through the address of a tensor that is only read.
//!
//! The finished statements are walked until nothing changes, so that an address is followed through arithmetic,
//! variables, branches, loops and inlined functions alike.

use la_arena::ArenaMap;

use crate::{
    diag::{Code, Diagnostic},
    elaborate::Builder,
    ir::{BulkKind, Op, ParamKind, Region, Stmt, StmtKind, Terminator, Value},
    loc::Loc,
};

/// The addresses that may point into a tensor that is only read, with its parameter.
#[derive(Default)]
struct Sources {
    of: ArenaMap<Value, u32>,
    changed: bool,
}

impl Sources {
    fn flow(&mut self, from: &[Value], to: &[Value]) {
        for (from, to) in from.iter().zip(to) {
            if let Some(param) = self.of.get(*from).copied()
                && !self.of.contains_idx(*to)
            {
                self.of.insert(*to, param);
                self.changed = true;
            }
        }
    }
}

/// A loop around the current point: what it carries, at the start of an iteration and after the last.
struct Around {
    args: Vec<Value>,
    results: Vec<Value>,
}

impl Builder<'_> {
    /// Notes from where the function was called in which this address is written through.
    pub(crate) fn note_write(&mut self, at: Value) {
        if let Some(call) = self.calls.first() {
            self.called.insert(at, (call.loc, call.function.name.name.clone()));
        }
    }

    /// Reports stores and atomics through the address of a tensor that is only read.
    pub(crate) fn check_writes(&mut self, body: &Region) {
        let mut sources = Sources::default();
        loop {
            sources.changed = false;
            self.spread(body, &mut sources, &mut Vec::new());
            if !sources.changed {
                break;
            }
        }
        let mut writes = Vec::new();
        find_writes(body, &sources, &mut writes);
        for (what, at, param, loc) in writes {
            let ParamKind::Tensor { dtype, rank, .. } = self.params[param as usize].kind else {
                unreachable!("`spread` begins at tensors")
            };
            let (name, place) =
                (self.params[param as usize].name.clone(), self.params[param as usize].loc);
            let (dtype, headline) = (dtype.name(), format!("{what} `{name}`, which is only read"));
            let mut diagnostic = Diagnostic::new(Code::ReadOnly, loc, headline)
                .compare(
                    "",
                    format!("an address in a `TensorMut<{dtype}, {rank}>`"),
                    format!("one that comes from `{name}.ptr()`, of a `Tensor<{dtype}, {rank}>`"),
                )
                .place(place, "declared here");
            if let Some((call, function)) = self.called.get(at) {
                diagnostic = diagnostic.place(*call, format!("called here as `{function}`"));
            }
            self.report(
                diagnostic
                    .why("the launch borrows a `Tensor` with `&`: other kernels may read it at the same time")
                    .help(format!("{name}: TensorMut<{dtype}, {rank}>")),
            );
        }
    }

    fn spread(&self, region: &Region, sources: &mut Sources, loops: &mut Vec<Around>) {
        for Stmt { kind, .. } in &region.stmts {
            match kind {
                StmtKind::Op { op, args, result } => {
                    let Some(result) = *result else { continue };
                    if let Op::ParamPtr(param) = op
                        && let ParamKind::Tensor { mutable: false, .. } =
                            self.params[*param as usize].kind
                        && !sources.of.contains_idx(result)
                    {
                        sources.of.insert(result, *param);
                        sources.changed = true;
                    }
                    if self.is_ptr(result) {
                        for arg in args {
                            sources.flow(&[*arg], &[result]);
                        }
                    }
                }
                StmtKind::If { then, otherwise, results, .. } => {
                    for side in [then, otherwise] {
                        self.spread(side, sources, loops);
                        if let Terminator::Yield(values) = &side.end {
                            sources.flow(values, results);
                        }
                    }
                }
                StmtKind::For { inits, body, results, .. } => {
                    // The first argument counts the iterations.
                    let args = body.args.get(1..).unwrap_or_default().to_vec();
                    self.spread_loop(
                        inits,
                        body,
                        Around { args, results: results.clone() },
                        sources,
                        loops,
                    );
                }
                StmtKind::Loop { inits, body, results } => {
                    let around = Around { args: body.args.clone(), results: results.clone() };
                    self.spread_loop(inits, body, around, sources, loops);
                }
                StmtKind::Ptx { args, results, .. } => {
                    for &result in results.iter().filter(|&&result| self.is_ptr(result)) {
                        for &arg in args {
                            sources.flow(&[arg], &[result]);
                        }
                    }
                }
                StmtKind::Specialize { default, partitions, results } => {
                    self.spread(default, sources, loops);
                    sources.flow(default.end.values(), results);
                    for partition in partitions {
                        self.spread(&partition.body, sources, loops);
                    }
                }
                StmtKind::Reduce { .. } | StmtKind::Scan { .. } => {}
            }
        }
        if let Terminator::Continue(depth, values) | Terminator::Break(depth, values) = &region.end
            && let Some(around) =
                loops.len().checked_sub(1 + *depth as usize).and_then(|at| loops.get(at))
        {
            sources.flow(values, &around.args);
            sources.flow(values, &around.results);
        }
    }

    fn spread_loop(
        &self,
        inits: &[Value],
        body: &Region,
        around: Around,
        sources: &mut Sources,
        loops: &mut Vec<Around>,
    ) {
        sources.flow(inits, &around.args);
        sources.flow(inits, &around.results);
        loops.push(around);
        self.spread(body, sources, loops);
        loops.pop();
    }
}

/// What it is in words, the address, the parameter that it may come from, and where.
type Write = (&'static str, Value, u32, Loc);

fn find_writes(region: &Region, sources: &Sources, out: &mut Vec<Write>) {
    for Stmt { kind, loc } in &region.stmts {
        match kind {
            StmtKind::Op { op, args, .. } => {
                let Some(what) = writes(op) else { continue };
                let Some(at) = args.first() else { continue };
                out.extend(sources.of.get(*at).map(|param| (what, *at, *param, *loc)));
            }
            StmtKind::If { then, otherwise, .. } => {
                find_writes(then, sources, out);
                find_writes(otherwise, sources, out);
            }
            StmtKind::For { .. } | StmtKind::Loop { .. } | StmtKind::Specialize { .. } => {
                kind.regions().into_iter().for_each(|body| find_writes(body, sources, out));
            }
            StmtKind::Ptx { code, args, .. } => {
                for (&arg, written) in args.iter().zip(code.written_through()) {
                    let param = sources.of.get(arg).filter(|_| written);
                    out.extend(param.map(|param| ("a store of `ptx!` to", arg, *param, *loc)));
                }
            }
            StmtKind::Reduce { .. } | StmtKind::Scan { .. } => {}
        }
    }
}

/// What an operation does to the address that is its first operand, if it writes there.
fn writes(op: &Op) -> Option<&'static str> {
    match op {
        Op::StorePtr { .. } => Some("a store to"),
        Op::Atomic(_) => Some("an atomic on"),
        Op::Bulk(bulk) => match bulk.kind {
            BulkKind::Store | BulkKind::Reduce(_) => Some("a bulk store to"),
            BulkKind::Load | BulkKind::Prefetch(_) | BulkKind::Send => None,
        },
        // Windows of tensors say themselves whether they can be written.
        Op::StoreTensor(_)
        | Op::LoadTensor(_)
        | Op::LoadPtr { .. }
        | Op::CopyAsync(_)
        | Op::Const(_)
        | Op::ParamDim(..)
        | Op::ParamStride(..)
        | Op::ParamScalar(_)
        | Op::ParamPtr(_)
        | Op::BlockId(_)
        | Op::NumBlocks(_)
        | Op::Arange(_)
        | Op::Splat
        | Op::Broadcast
        | Op::Expand(_)
        | Op::Reshape
        | Op::Permute(_)
        | Op::Join
        | Op::Split(_)
        | Op::Unary(_)
        | Op::Binary(_)
        | Op::Compare(_)
        | Op::Select
        | Op::Fma
        | Op::Cast
        | Op::ToLayout(_)
        | Op::AssertLayout(_)
        | Op::Dot { .. }
        | Op::SharedIndex
        | Op::SharedTranspose
        | Op::SharedRemote
        | Op::SharedAlloc(_)
        | Op::LoadShared
        | Op::StoreShared
        | Op::CopyCommit
        | Op::CopyWait(_)
        | Op::CopyWaitAll
        | Op::Staged(_)
        | Op::Sync
        | Op::Barrier(_)
        | Op::Tma(_)
        | Op::StoreAsync
        | Op::Named(..)
        | Op::TmaWait { .. }
        | Op::FenceAsync
        | Op::Wgmma
        | Op::WgmmaWait(_)
        | Op::TensorMemory(_)
        | Op::Tcgen05(_)
        | Op::Cluster(_)
        | Op::Grid(_)
        | Op::Assert(_) => None,
    }
}
