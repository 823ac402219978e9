//! The bytes that barriers wait for, against those of the copies that complete on them.
//!
//! An `expect` of a constant, and the copies after it in the same straight run of statements, up to the next `expect` or wait on that
//! barrier, must agree: otherwise the phase ends early, or never. What is decided when the kernel runs is found by the emulator.

use std::collections::BTreeMap;

use crate::{
    diag::{Code, Diagnostic},
    elaborate::written_ptx::per_thread::Uses,
    ir::{
        BarrierOp, BulkKind, ClusterOp, Const, Kernel, Op, ParamKind, Region, StmtKind, Type, Value,
    },
    layouts::tma::copied_bytes,
    loc::Loc,
};

/// The bytes of the answer to `cluster::try_cancel` (PTX ISA, "`clusterlaunchcontrol.try_cancel`").
const ANSWER_BYTES: u64 = 16;

/// A barrier as the program names it: an allocation, and the index of one of a ring.
pub(crate) type Name = (u32, Option<u32>);

/// What is known of one phase of a barrier.
struct Phase {
    bytes: i128,
    at: Loc,
    copies: u64,
    copied_at: Vec<Loc>,
    /// Copies in branches, or of other blocks, are not counted.
    open: bool,
}

/// What is wrong with the byte counts of a kernel.
pub(crate) fn check(kernel: &Kernel, uses: &Uses) -> Vec<Diagnostic> {
    let mut walk = Walk { kernel, uses, names: Names::default(), found: Vec::new() };
    walk.region(&kernel.body);
    walk.found
}

struct Walk<'k> {
    kernel: &'k Kernel,
    uses: &'k Uses,
    names: Names,
    found: Vec<Diagnostic>,
}

/// The barriers and the constants of a kernel, by the values that stand for them.
#[derive(Default)]
pub(crate) struct Names {
    names: BTreeMap<u32, Name>,
    constants: BTreeMap<u32, i128>,
}

impl Names {
    /// Takes note of an operation that makes a barrier or a constant.
    pub(crate) fn note(&mut self, op: &Op, args: &[Value], result: Option<Value>) {
        match op {
            Op::Const(Const::Int(value)) => {
                self.constants.extend(result.map(|result| (key(result), *value)));
            }
            Op::Barrier(BarrierOp::Alloc(root)) => {
                let root = root.into_raw().into_u32();
                self.names.extend(result.map(|result| (key(result), (root, None))));
            }
            Op::Barrier(BarrierOp::Index) => {
                if let (Some((root, _)), Some(result)) = (self.of(args[0]), result) {
                    self.names.insert(key(result), (root, Some(self.index(args[1]))));
                }
            }
            _ => {}
        }
    }

    /// The barrier that a value is; none for one of another block.
    pub(crate) fn of(&self, barrier: Value) -> Option<Name> {
        self.names.get(&key(barrier)).copied()
    }

    /// The number that a value is known to be.
    pub(crate) fn constant(&self, value: Value) -> Option<i128> {
        self.constants.get(&key(value)).copied()
    }

    /// Whether two barriers of one ring are known to be different ones: their indices are constants.
    pub(crate) fn apart(&self, one: Name, other: Name) -> bool {
        let constant = |(_, index): Name| {
            let is = |known: &i128| index == Some(u32::MAX - u32::try_from(*known).unwrap_or(0));
            self.constants.values().any(is)
        };
        one != other && constant(one) && constant(other)
    }

    /// What tells one barrier of a ring from another: constants that are equal are one index.
    fn index(&self, index: Value) -> u32 {
        match self.constants.get(&key(index)) {
            // Values are few: such numbers are free for constants.
            Some(&known) => u32::MAX - u32::try_from(known).unwrap_or(0),
            None => key(index),
        }
    }
}

/// A copy into shared memory that completes on a barrier.
pub(crate) struct Arriving {
    /// The barrier.
    pub(crate) barrier: Value,
    /// What the barrier counts, in each block that receives the copy.
    pub(crate) bytes: u64,
    /// The blocks that it goes to, where those are several.
    pub(crate) mask: Option<Value>,
    /// It takes place under a condition.
    pub(crate) guarded: bool,
}

/// The copy that an operation starts, if it is one.
pub(crate) fn arriving(kernel: &Kernel, op: &Op, args: &[Value]) -> Option<Arriving> {
    let window = |window: Option<Value>| match kernel.ty(window?) {
        Type::Shared(window) => Some(window),
        Type::Scalar(_)
        | Type::Tile(..)
        | Type::Barrier(_)
        | Type::TensorMemory(_)
        | Type::Error => None,
    };
    match op {
        Op::Tma(tma) if tma.kind.completes_on_a_barrier() => {
            let ParamKind::Tensor { rank, .. } = kernel.params[tma.param as usize].kind else {
                return None;
            };
            let operands = tma.operands(rank as usize, args);
            let bytes = copied_bytes(kernel, window(operands.window)?, tma.param);
            let (mask, guarded) = (operands.mask, tma.guarded);
            Some(Arriving { barrier: operands.barrier?, bytes, mask, guarded })
        }
        Op::Bulk(bulk) if bulk.kind == BulkKind::Load => {
            let operands = bulk.operands(args);
            let window = window(operands.window)?;
            let elements: u64 = window.shape.iter().map(|extent| u64::from(*extent)).product();
            let bytes = elements * u64::from(window.dtype.bytes());
            let (mask, guarded) = (operands.mask, bulk.guarded);
            Some(Arriving { barrier: operands.barrier?, bytes, mask, guarded })
        }
        Op::Cluster(ClusterOp::TryCancel) => {
            Some(Arriving { barrier: args[1], bytes: ANSWER_BYTES, mask: None, guarded: false })
        }
        _ => None,
    }
}

fn key(value: Value) -> u32 {
    value.into_raw().into_u32()
}

impl Walk<'_> {
    fn region(&mut self, region: &Region) {
        let mut phases: BTreeMap<Name, Phase> = BTreeMap::new();
        for stmt in &region.stmts {
            let mut inside = Vec::new();
            for inner in stmt.kind.regions() {
                self.region(inner);
                self.touched(inner, &mut inside);
            }
            for name in inside {
                if let Some(phase) = phases.get_mut(&name) {
                    phase.open = true;
                }
            }
            let StmtKind::Op { op, args, result } = &stmt.kind else { continue };
            self.names.note(op, args, *result);
            match op {
                Op::Barrier(BarrierOp::Expect) => {
                    if let Some(name) = self.names.of(args[0]) {
                        let ended = match self.names.constants.get(&key(args[1])) {
                            Some(&bytes) => phases.insert(
                                name,
                                Phase {
                                    bytes,
                                    at: self.uses.place(stmt.loc, args[1]),
                                    copies: 0,
                                    copied_at: Vec::new(),
                                    open: self.hears_others(args[0]),
                                },
                            ),
                            None => phases.remove(&name),
                        };
                        if let Some(phase) = ended {
                            self.compare(phase);
                        }
                    }
                }
                Op::Barrier(BarrierOp::Wait) => {
                    if let Some(name) = self.names.of(args[0])
                        && let Some(phase) = phases.remove(&name)
                    {
                        self.compare(phase);
                    }
                }
                _ => {
                    if let Some(copy) = arriving(self.kernel, op, args)
                        && let Some(name) = self.names.of(copy.barrier)
                        && let Some(phase) = phases.get_mut(&name)
                    {
                        phase.open |= copy.mask.is_some() || copy.guarded;
                        phase.copies += copy.bytes;
                        phase.copied_at.push(stmt.loc);
                    }
                }
            }
        }
        for phase in phases.into_values() {
            self.compare(phase);
        }
    }

    /// Whether other blocks arrive at a barrier, or send it bytes.
    fn hears_others(&self, barrier: Value) -> bool {
        match self.kernel.ty(barrier) {
            Type::Barrier(barrier) => self.kernel.hears_others(barrier.root),
            Type::Scalar(_)
            | Type::Tile(..)
            | Type::Shared(_)
            | Type::TensorMemory(_)
            | Type::Error => false,
        }
    }

    /// The barriers that a region may copy to.
    fn touched(&self, region: &Region, out: &mut Vec<Name>) {
        for stmt in &region.stmts {
            if let StmtKind::Op { op, args, .. } = &stmt.kind
                && let Some(copy) = arriving(self.kernel, op, args)
            {
                out.extend(self.names.of(copy.barrier));
            }
            for inner in stmt.kind.regions() {
                self.touched(inner, out);
            }
        }
    }

    fn compare(&mut self, phase: Phase) {
        if phase.open || phase.copied_at.is_empty() || i128::from(phase.copies) == phase.bytes {
            return;
        }
        let why = if i128::from(phase.copies) < phase.bytes {
            "the phase ends when all expected bytes have come: with these copies it never does"
        } else {
            "the phase ends as soon as the expected bytes have come: what waits for it goes on before the last copy is there"
        };
        let mut diagnostic = Diagnostic::new(
            Code::BarrierBytes,
            phase.at,
            "the barrier waits for other bytes than are copied",
        )
        .compare("bytes", phase.copies.to_string(), phase.bytes.to_string());
        for at in phase.copied_at {
            diagnostic = diagnostic.place(at, "this copy counts");
        }
        self.found.push(diagnostic.why(why).help(format!("{}", phase.copies)));
    }
}
