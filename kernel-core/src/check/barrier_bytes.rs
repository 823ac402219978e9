//! The bytes that barriers expect, against those that the copies deliver.
//!
//! An `expect` of a constant, and the copies after it in the same straight run of statements, up to the next `expect` or wait on that
//! barrier, must agree: otherwise the phase ends early, or never. The emulator checks what is decided at run time.

use std::collections::BTreeMap;

use crate::{
    diag::{Code, Diagnostic},
    elaborate::Written,
    ir::{
        BarrierOp, Bulk, BulkKind, ClusterOp, Const, CopyOp, Kernel, Op, ParamKind, Region,
        SourceOp, StmtKind, SyncOp, Value,
    },
    layouts::tma::copied_bytes,
    loc::Loc,
};

/// The bytes of the answer to `cluster::try_cancel` (PTX ISA, "`clusterlaunchcontrol.try_cancel`").
const ANSWER_BYTES: u64 = 16;

/// A barrier as the program names it: an allocation, and the index of one of a ring.
pub(super) type Name = (u32, Option<u32>);

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
pub(super) fn check(kernel: &Kernel, written: &Written) -> Vec<Diagnostic> {
    let mut walk = Walk { kernel, written, names: Names::default(), found: Vec::new() };
    walk.region(&kernel.body);
    walk.found
}

struct Walk<'k> {
    kernel: &'k Kernel,
    written: &'k Written,
    names: Names,
    found: Vec<Diagnostic>,
}

/// The barriers and the constants of a kernel, by the values that stand for them.
#[derive(Default)]
pub(super) struct Names {
    names: BTreeMap<u32, Name>,
    constants: BTreeMap<u32, i128>,
}

impl Names {
    /// Takes note of an operation that makes a barrier or a constant.
    pub(super) fn note(&mut self, op: &Op, args: &[Value], result: Option<Value>) {
        let Some(result) = result else { return };
        if let Op::Source(SourceOp::Const(Const::Int(value))) = op {
            self.constants.insert(key(result), *value);
        } else if let Op::Sync(SyncOp::Barrier(BarrierOp::Alloc(root))) = op {
            self.names.insert(key(result), (root.into_raw().into_u32(), None));
        } else if let Op::Sync(SyncOp::Barrier(BarrierOp::Index)) = op
            && let Some((root, _)) = self.of(args[0])
        {
            self.names.insert(key(result), (root, Some(self.index(args[1]))));
        }
    }

    /// The barrier that a value is; none for one of another block.
    pub(super) fn of(&self, barrier: Value) -> Option<Name> {
        self.names.get(&key(barrier)).copied()
    }

    /// The number that a value is known to be.
    pub(super) fn constant(&self, value: Value) -> Option<i128> {
        self.constants.get(&key(value)).copied()
    }

    /// Whether two barriers of one ring are known to be different ones: their indices are constants.
    pub(super) fn apart(&self, one: Name, other: Name) -> bool {
        let constant = |(_, index): Name| {
            let is = |known: &i128| index == Some(u32::MAX - u32::try_from(*known).unwrap_or(0));
            self.constants.values().any(is)
        };
        one != other && constant(one) && constant(other)
    }

    /// What distinguishes the barriers of a ring: constants that are equal are one index.
    fn index(&self, index: Value) -> u32 {
        match self.constants.get(&key(index)) {
            // Values are few: such numbers are free for constants.
            Some(&known) => u32::MAX - u32::try_from(known).unwrap_or(0),
            None => key(index),
        }
    }
}

/// A copy into shared memory that completes on a barrier.
pub(super) struct Arriving {
    /// The barrier.
    pub(super) barrier: Value,
    /// What the barrier counts, in each block that receives the copy.
    pub(super) bytes: u64,
    /// The blocks that it goes to, where those are several.
    pub(super) mask: Option<Value>,
    /// It takes place under a condition.
    pub(super) guarded: bool,
}

/// The copy that an operation starts, if it is one.
pub(super) fn arriving(kernel: &Kernel, op: &Op, args: &[Value]) -> Option<Arriving> {
    let window = |window: Option<Value>| kernel.ty(window?).shared();
    if let Op::Copy(CopyOp::Tma(tma)) = op {
        let ParamKind::Tensor { rank, .. } = kernel.params[tma.param as usize].kind else {
            return None;
        };
        let operands = tma.operands(rank as usize, args);
        let barrier = operands.barrier?;
        let bytes = copied_bytes(kernel, window(operands.window)?, tma.param);
        Some(Arriving { barrier, bytes, mask: operands.mask, guarded: tma.guarded })
    } else if let Op::Copy(CopyOp::Bulk(bulk @ Bulk { kind: BulkKind::Load, .. })) = op {
        let operands = bulk.operands(args);
        let window = window(operands.window)?;
        let elements: u64 = window.shape.iter().map(|extent| u64::from(*extent)).product();
        let bytes = elements * u64::from(window.dtype.bytes());
        let barrier = operands.barrier?;
        Some(Arriving { barrier, bytes, mask: operands.mask, guarded: bulk.guarded })
    } else if let Op::Sync(SyncOp::Cluster(ClusterOp::TryCancel)) = op {
        Some(Arriving { barrier: args[1], bytes: ANSWER_BYTES, mask: None, guarded: false })
    } else {
        None
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
            let of_barrier = args.first().and_then(|&first| self.names.of(first));
            let ended = match (op, of_barrier) {
                (Op::Sync(SyncOp::Barrier(BarrierOp::Expect)), Some(name)) => {
                    let begun = self.names.constant(args[1]).map(|bytes| Phase {
                        bytes,
                        at: self.written.place(stmt.loc, args[1]),
                        copies: 0,
                        copied_at: Vec::new(),
                        open: self.hears_others(args[0]),
                    });
                    let before = phases.remove(&name);
                    phases.extend(begun.map(|phase| (name, phase)));
                    before
                }
                (Op::Sync(SyncOp::Barrier(BarrierOp::Wait)), Some(name)) => phases.remove(&name),
                (_, _) => None,
            };
            if let Some(phase) = ended {
                self.compare(phase);
            }
            if let Some(copy) = arriving(self.kernel, op, args)
                && let Some(name) = self.names.of(copy.barrier)
                && let Some(phase) = phases.get_mut(&name)
            {
                phase.open |= copy.mask.is_some() || copy.guarded;
                phase.copies += copy.bytes;
                phase.copied_at.push(stmt.loc);
            }
        }
        for phase in phases.into_values() {
            self.compare(phase);
        }
    }

    /// Whether other blocks arrive at a barrier, or send it bytes.
    fn hears_others(&self, barrier: Value) -> bool {
        let ty = self.kernel.ty(barrier).barrier();
        ty.is_some_and(|barrier| self.kernel.hears_others(barrier.root))
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
            "the phase ends when the expected bytes have arrived: with these copies it never does"
        } else {
            "the phase ends when the expected bytes have arrived, so the wait returns before the last copy is done"
        };
        let headline = format!(
            "the barrier expects {} bytes; the copies deliver {}",
            phase.bytes, phase.copies
        );
        let mut diagnostic = Diagnostic::new(Code::BarrierBytes, phase.at, headline).compare(
            "bytes",
            phase.copies.to_string(),
            phase.bytes.to_string(),
        );
        for at in phase.copied_at {
            diagnostic = diagnostic.place(at, "this copy counts");
        }
        self.found.push(diagnostic.why(why).help(format!("{}", phase.copies)));
    }
}
