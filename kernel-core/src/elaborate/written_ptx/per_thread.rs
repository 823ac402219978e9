//! What `ptx!` reads of the thread may not decide for the block: see [`Kernel::per_thread`].

use std::collections::BTreeMap;

use la_arena::ArenaMap;

use crate::{
    diag::{Code, Diagnostic},
    elaborate::{Builder, language::value::ViewVal},
    ir::{
        BarrierOp, Bulk, BulkKind, Elem, Kernel, Op, ParamKind, Region, Stmt, StmtKind, Tcgen05,
        TensorMemoryOp, Type, Value,
    },
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
pub(crate) struct Uses(BTreeMap<(Loc, la_arena::RawIdx), Use>);

impl Uses {
    /// Where an operand of a statement is written.
    pub(crate) fn place(&self, stmt: Loc, value: Value) -> Loc {
        self.find(stmt, value).map_or(stmt, |found| found.at)
    }

    fn find(&self, stmt: Loc, value: Value) -> Option<&Use> {
        self.0.get(&(stmt, value.into_raw()))
    }
}

impl Builder<'_> {
    /// The value decides in the statement at `stmt`, where it is written at `at`.
    pub(crate) fn note_use(&mut self, value: Value, stmt: Loc, at: Loc) {
        let call = self.calls.first().map(|call| (call.loc, call.function.name.name.clone()));
        self.uses.0.entry((stmt, value.into_raw())).or_insert(Use { at, call });
    }

    /// The same for the coordinates of a window.
    pub(crate) fn note_corner(&mut self, view: &ViewVal, stmt: Loc) {
        for (value, at) in view.corner().into_iter().flatten().zip(&view.places) {
            self.note_use(value, stmt, *at);
        }
    }
}

/// What decides for the block and is each thread's own.
pub(crate) fn check(kernel: &Kernel, uses: &Uses) -> Vec<Diagnostic> {
    let own = kernel.per_thread();
    let mut walk = Walk { kernel, uses, own: &own, problems: Vec::new() };
    if own.iter().next().is_some() {
        walk.region(&kernel.body);
    }
    walk.problems
}

struct Walk<'k> {
    kernel: &'k Kernel,
    uses: &'k Uses,
    own: &'k ArenaMap<Value, Loc>,
    problems: Vec<Diagnostic>,
}

impl Walk<'_> {
    /// Reports the first of these values that is each thread's own. `what` decides for the block; `help` may be empty.
    fn decide(&mut self, what: &str, values: &[Value], stmt: Loc, why: &str, help: &str) {
        let Some(value) = values.iter().find(|value| self.own.contains_idx(**value)) else {
            return;
        };
        let Some(&origin) = self.own.get(*value) else { return };
        let found = self.uses.find(stmt, *value);
        let at = found.map_or(stmt, |found| found.at);
        let mut diagnostic = Diagnostic::new(
            Code::PerThread,
            at,
            format!("{what} may differ from thread to thread"),
        );
        if let Some((call, name)) = found.and_then(|found| found.call.as_ref()) {
            diagnostic = diagnostic.place(*call, format!("called here as `{name}`"));
        }
        let diagnostic = diagnostic
            .place(origin, "`ptx!` may give each thread another value")
            .compare("", "one value for the block", "one for each thread")
            .why(why);
        self.problems.push(if help.is_empty() { diagnostic } else { diagnostic.help(help) });
    }

    fn op(&mut self, op: &Op, args: &[Value], at: Loc) {
        const COORDINATE: &str = "the coordinate of a window";
        const TOGETHER: &str = "a window is read and written by all threads together";
        const ONE_STARTS: &str = "one thread starts the copy for all";
        let corner = &args[..args.len().saturating_sub(1)];
        match op {
            Op::LoadTensor(_) => {
                self.decide(COORDINATE, args, at, TOGETHER, "load(p + full([128], lane))");
            }
            Op::StoreTensor(_) => {
                let help = "store(p + full([128], lane), x)";
                self.decide(COORDINATE, corner, at, TOGETHER, help);
            }
            Op::CopyAsync(_) => self.decide(
                COORDINATE,
                corner,
                at,
                "a window is copied by all threads together",
                "s.store(load(p + full([128], lane)))",
            ),
            Op::SharedIndex => self.decide(
                "the index into shared memory",
                args,
                at,
                "a buffer is read and written by all threads together",
                "select(full([64, 64], lane).eq(0), s[0].load(), s[1].load())",
            ),
            Op::SharedRemote | Op::Barrier(BarrierOp::Remote) => self.decide(
                "the rank of a block",
                args,
                at,
                "a window of another block is read and written by all threads together",
                "cluster::rank() ^ 1",
            ),
            Op::Barrier(BarrierOp::Index) => self.decide(
                "the index of a barrier",
                args,
                at,
                "one thread arrives for its partition, and all of them wait at the same barrier",
                "",
            ),
            Op::Barrier(BarrierOp::Expect) => self.decide(
                "the bytes of a phase",
                &args[1..],
                at,
                "one thread announces them for its partition",
                "",
            ),
            Op::Tma(tma) => {
                let ParamKind::Tensor { rank, .. } = self.kernel.params[tma.param as usize].kind
                else {
                    unreachable!("ir::verify wants a tensor behind a tensor map")
                };
                let operands = tma.operands(rank as usize, args);
                let what = "the coordinate of a copy by tensor map";
                self.decide(what, &operands.coordinates, at, ONE_STARTS, "");
                self.decide_copy(operands.mask, operands.condition, at);
            }
            Op::Bulk(bulk) => {
                let operands = bulk.operands(args);
                let help = self.address_help(operands.first, *bulk, operands.window);
                let what = "the address of a bulk copy";
                self.decide(what, &[operands.first], at, ONE_STARTS, &help);
                self.decide_copy(operands.mask, operands.condition, at);
            }
            Op::TensorMemory(TensorMemoryOp::Index) => self.decide(
                "the index into tensor memory",
                args,
                at,
                "a tile is read and written by all threads together",
                "",
            ),
            Op::Tcgen05(started) => {
                const WHY: &str = "one thread starts it for all";
                if matches!(started, Tcgen05::Mma { .. }) {
                    self.decide("whether a product adds", &args[3..4], at, WHY, "");
                }
                self.decide("the mask of a commit", started.mask(args).as_slice(), at, WHY, "");
                let what = match started {
                    Tcgen05::Mma { .. } => "the condition of a product",
                    Tcgen05::Copy { .. } => "the condition of a copy",
                    Tcgen05::Commit { .. } | Tcgen05::FenceBefore | Tcgen05::FenceAfter => {
                        "the condition of a commit"
                    }
                };
                self.decide(what, started.condition(args).as_slice(), at, WHY, "");
            }
            // What these compute is each thread's own where an operand is, and all threads do them.
            Op::Const(_)
            | Op::ParamPtr(_)
            | Op::ParamDim(..)
            | Op::ParamStride(..)
            | Op::ParamScalar(_)
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
            | Op::LoadPtr { .. }
            | Op::StorePtr { .. }
            | Op::Atomic(_)
            | Op::Dot { .. }
            | Op::Wgmma
            | Op::WgmmaWait(_)
            | Op::Assert(_)
            // A thread waits for the phase that it names. Operands of the others are shared memory, barriers and tiles, or there are
            // none.
            | Op::Barrier(
                BarrierOp::Wait | BarrierOp::Test | BarrierOp::Alloc(_) | BarrierOp::Arrive,
            )
            | Op::TensorMemory(
                TensorMemoryOp::Alloc(_)
                | TensorMemoryOp::Tile(_)
                | TensorMemoryOp::View(_)
                | TensorMemoryOp::Load
                | TensorMemoryOp::Store,
            )
            | Op::SharedAlloc(_)
            | Op::SharedTranspose
            | Op::LoadShared
            | Op::StoreShared
            | Op::StoreAsync
            | Op::CopyCommit
            | Op::CopyWait(_)
            | Op::CopyWaitAll
            | Op::Staged(_)
            | Op::Sync
            | Op::Named(..)
            | Op::TmaWait { .. }
            | Op::FenceAsync
            | Op::Cluster(_)
            | Op::Grid(_) => {}
        }
    }

    /// What else is said of a copy that one thread starts.
    fn decide_copy(&mut self, mask: Option<Value>, condition: Option<Value>, at: Loc) {
        const WHY: &str = "one thread starts the copy for all, and which one is not said";
        self.decide("the mask of a copy", mask.as_slice(), at, WHY, "");
        self.decide("the condition of a copy", condition.as_slice(), at, WHY, "");
    }

    /// An address of the block in the place of one of each thread.
    fn address_help(&self, address: Value, bulk: Bulk, window: Option<Value>) -> String {
        let Some(name) = self.pointer(&self.kernel.body, address) else { return String::new() };
        let elements = match (bulk.kind, window.map(|window| self.kernel.ty(window))) {
            (BulkKind::Prefetch(bytes), _) => match self.kernel.ty(address).elem() {
                Some(Elem::Ptr(dtype)) => bytes / dtype.bytes(),
                Some(Elem::Number(_)) | None => return String::new(),
            },
            (_, Some(Type::Shared(window))) => window.shape.iter().product(),
            (_, _) => return String::new(),
        };
        format!("{name} + block_id(0) * {elements}")
    }

    /// How the pointer is written that an address is computed from.
    fn pointer(&self, region: &Region, address: Value) -> Option<String> {
        region.stmts.iter().find_map(|stmt| match &stmt.kind {
            StmtKind::Op { op: Op::ParamPtr(param), result: Some(result), .. }
                if *result == address =>
            {
                let param = &self.kernel.params[*param as usize];
                Some(match param.kind {
                    ParamKind::Tensor { .. } => format!("{}.ptr()", param.name),
                    ParamKind::Pointer(_) | ParamKind::Scalar(_) => param.name.clone(),
                })
            }
            StmtKind::Op { op: Op::Binary(_), args, result: Some(result) }
                if *result == address =>
            {
                let is_pointer =
                    |arg: &&Value| matches!(self.kernel.ty(**arg).elem(), Some(Elem::Ptr(_)));
                args.iter().filter(is_pointer).find_map(|arg| self.pointer(&self.kernel.body, *arg))
            }
            kind => kind.regions().into_iter().find_map(|inner| self.pointer(inner, address)),
        })
    }

    fn region(&mut self, region: &Region) {
        for Stmt { kind, loc } in &region.stmts {
            match kind {
                StmtKind::Op { op, args, .. } => self.op(op, args, *loc),
                StmtKind::If { condition, then, otherwise, .. } => {
                    self.decide(
                    "the condition",
                    &[*condition],
                    *loc,
                    "all threads of a block go one way: Kiln places barriers by it, which some would not reach",
                    "select(full([128], lane).eq(0), a, b)",
                );
                    self.region(then);
                    self.region(otherwise);
                }
                StmtKind::For { from, to, step, body, .. } => {
                    self.decide(
                    "the range of a loop",
                    &[*from, *to, *step],
                    *loc,
                    "all threads of a block take the same iterations: Kiln places barriers by it, which some would not reach",
                    "for i in 0..32 { .. select(full([128], lane).gt(i), a, b) .. }",
                );
                    self.region(body);
                }
                StmtKind::Specialize { default, partitions, .. } => {
                    self.region(default);
                    for partition in partitions {
                        let taken: Vec<Value> =
                            partition.body.captured().into_iter().map(|(value, _)| value).collect();
                        self.decide(
                        "what a partition takes from outside",
                        &taken,
                        *loc,
                        "other threads run the partition, and none of them has the value of this one",
                        "partition(1).run(|| { let lane = ptx!(\"mov.u32 {out}, %laneid;\" => i32); .. })",
                    );
                        self.region(&partition.body);
                    }
                }
                StmtKind::Loop { body, .. } => self.region(body),
                StmtKind::Reduce { .. } | StmtKind::Scan { .. } | StmtKind::Ptx { .. } => {}
            }
        }
    }
}
