//! What `ptx!` reads of the thread may not decide for the block: see [`Kernel::per_thread`].

use la_arena::ArenaMap;

use crate::{
    diag::{Code, Diagnostic, names_used},
    elaborate::Written,
    ir::{
        BarrierOp, Bulk, BulkKind, CopyOp, Elem, ElementwiseOp, Kernel, MemoryOp, Op, ParamKind,
        ProductOp, Region, SourceOp, Stmt, StmtKind, SyncOp, Tcgen05, TensorMemoryOp, Type, Value,
        WindowOp,
    },
    loc::Loc,
};

/// What decides for the block and is each thread's own.
pub(super) fn check(kernel: &Kernel, written: &Written) -> Vec<Diagnostic> {
    let own = kernel.per_thread();
    let mut walk = Walk { kernel, written, own: &own, problems: Vec::new() };
    if own.iter().next().is_some() {
        walk.region(&kernel.body);
    }
    walk.problems
}

/// What the threads of a block do together, if an operand decides it: in words, the operands, why they are one for all, and what to write
/// otherwise. Other operations compute each thread's own, or have no such operands; a thread waits for the phase that it names.
fn together<'a>(
    op: &Op,
    args: &'a [Value],
) -> Option<(&'static str, &'a [Value], &'static str, &'static str)> {
    const COORDINATE: &str = "the coordinate of a window";
    const TOGETHER: &str = "a window is read and written by all threads together";
    let corner = &args[..args.len().saturating_sub(1)];
    Some(if let Op::Memory(MemoryOp::LoadTensor(..)) = op {
        (COORDINATE, args, TOGETHER, "load(p + full([128], lane))")
    } else if let Op::Memory(MemoryOp::PrefetchTensor { .. }) = op {
        (COORDINATE, args, "a window is prefetched by all threads together", "")
    } else if let Op::Memory(MemoryOp::AtomicTensor { op, .. }) = op {
        (
            COORDINATE,
            &args[..args.len() - op.values()],
            TOGETHER,
            "atomic::add(p + full([128], lane), x)",
        )
    } else if let Op::Memory(MemoryOp::StoreTensor(..)) = op {
        (COORDINATE, corner, TOGETHER, "store(p + full([128], lane), x)")
    } else if let Op::Copy(CopyOp::Async(..)) = op {
        let why = "a window is copied by all threads together";
        (COORDINATE, corner, why, "s.store(load(p + full([128], lane)))")
    } else if let Op::Window(WindowOp::Index) = op {
        let why = "a buffer is read and written by all threads together; `select` chooses between the elements of tiles that are loaded";
        ("the index into shared memory", args, why, "")
    } else if let Op::Window(WindowOp::Part) = op {
        let why = "a part is read and written by all threads together; `gather` reads the elements that each thread names";
        ("where a part of shared memory begins", &args[1..], why, "")
    } else if let Op::Window(WindowOp::Remote) | Op::Sync(SyncOp::Barrier(BarrierOp::Remote)) = op {
        let why = "a window of another block is read and written by all threads together";
        ("the rank of a block", args, why, "cluster::rank() ^ 1")
    } else if let Op::Sync(SyncOp::Barrier(BarrierOp::Index)) = op {
        let why = "one thread arrives for its partition, and all of them wait at the same barrier";
        ("the index of a barrier", args, why, "")
    } else if let Op::Sync(SyncOp::Barrier(BarrierOp::Expect)) = op {
        ("the bytes of a phase", &args[1..], "one thread calls `expect` for its partition", "")
    } else if let Op::TensorMemory(TensorMemoryOp::Index) = op {
        let why = "a tile is read and written by all threads together";
        ("the index into tensor memory", args, why, "")
    } else {
        return None;
    })
}

struct Walk<'k> {
    kernel: &'k Kernel,
    written: &'k Written,
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
        let found = self.written.find(stmt, *value);
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
            .place(origin, "`ptx!` may give each thread a different value")
            .compare("", "one value for the block", "one for each thread")
            .why(why);
        let known = |name: &str| {
            let mut held = self.written.holders.values().map(|holder| &*holder.name);
            let mut params = self.kernel.params.iter().map(|param| param.name.as_str());
            held.any(|one| one == name) || params.any(|one| one == name)
        };
        let can_be_pasted = names_used(help).into_iter().all(known);
        self.problems.push(match (help, can_be_pasted) {
            ("", _) => diagnostic,
            (_, true) => diagnostic.help(help),
            (_, false) => diagnostic.help(help).exemplified(),
        });
    }

    fn op(&mut self, op: &Op, args: &[Value], at: Loc) {
        const ONE_STARTS: &str = "one thread starts the copy for all";
        if let Some((what, values, why, help)) = together(op, args) {
            self.decide(what, values, at, why, help);
        }
        if let Op::Copy(CopyOp::Tma(tma)) = op {
            let ParamKind::Tensor { rank, .. } = self.kernel.params[tma.param as usize].kind else {
                unreachable!("ir::verify requires a tensor behind a tensor map")
            };
            let operands = tma.operands(rank as usize, args);
            let what = "the coordinate of a TMA copy";
            self.decide(what, &operands.coordinates, at, ONE_STARTS, "");
            let bounds: Vec<Value> =
                operands.slice.iter().flat_map(|(_, bounds)| *bounds).collect();
            self.decide("the bound of a slice", &bounds, at, ONE_STARTS, "");
            self.decide_copy(operands.mask, operands.condition, at);
        }
        if let Op::Copy(CopyOp::Bulk(bulk)) = op {
            let operands = bulk.operands(args);
            let help = self.address_help(operands.first, *bulk, operands.window);
            self.decide("the address of a bulk copy", &[operands.first], at, ONE_STARTS, &help);
            self.decide_copy(operands.mask, operands.condition, at);
        }
        if let Op::Product(ProductOp::Tcgen05(started)) = op {
            const WHY: &str = "one thread starts it for all";
            let what = match started {
                Tcgen05::Mma { .. } => {
                    self.decide("whether a product adds", &args[3..4], at, WHY, "");
                    "the condition of a product"
                }
                Tcgen05::Copy { .. } => "the condition of a copy",
                Tcgen05::Commit { .. } | Tcgen05::FenceBefore | Tcgen05::FenceAfter => {
                    "the condition of a commit"
                }
            };
            self.decide("the mask of a commit", started.mask(args).as_slice(), at, WHY, "");
            self.decide(what, started.condition(args).as_slice(), at, WHY, "");
        }
    }

    /// What else is said of a copy that one thread starts.
    fn decide_copy(&mut self, mask: Option<Value>, condition: Option<Value>, at: Loc) {
        const WHY: &str = "one thread starts the copy for all, and the language does not say which";
        self.decide("the mask of a copy", mask.as_slice(), at, WHY, "");
        self.decide("the condition of a copy", condition.as_slice(), at, WHY, "");
    }

    /// An address of the block in the place of one of each thread.
    fn address_help(&self, address: Value, bulk: Bulk, window: Option<Value>) -> String {
        let Some(name) = self.pointer(address) else { return String::new() };
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
    fn pointer(&self, address: Value) -> Option<String> {
        let mut made = None;
        self.kernel.body.each_op(&mut |op, args, result, _| {
            if result == Some(address) {
                made = Some((op, args));
            }
        });
        let (op, args) = made?;
        if let Op::Source(SourceOp::ParamPtr(param)) = op {
            let param = &self.kernel.params[*param as usize];
            return Some(match param.kind {
                ParamKind::Tensor { .. } => format!("{}.ptr()", param.name),
                ParamKind::Pointer(_) | ParamKind::Scalar(_) => param.name.clone(),
            });
        }
        let Op::Elementwise(ElementwiseOp::Binary(_)) = op else { return None };
        let is_pointer = |arg: &&Value| matches!(self.kernel.ty(**arg).elem(), Some(Elem::Ptr(_)));
        args.iter().filter(is_pointer).find_map(|arg| self.pointer(*arg))
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
                    "all threads of a block take one path: Kiln relies on that to place barriers",
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
                    "all threads of a block run the same iterations: Kiln relies on that to place barriers",
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
                        "other threads run the partition, and they do not have the values of these",
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
