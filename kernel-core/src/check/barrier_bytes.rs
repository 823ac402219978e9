//! The bytes that barriers expect, against those that the copies deliver.
//!
//! An `expect` of a constant, and the copies after it in the same straight run of statements, up to the next `expect` or wait on that
//! barrier, must agree: otherwise the phase ends early, or never. The emulator checks what is decided at run time.

use std::collections::BTreeMap;

use super::slots::{Slot, Slots};
use crate::{
    diag::{Code, Diagnostic},
    elaborate::Written,
    ir::{BarrierOp, Blocks, Done, Kernel, Memory, Op, Region, StmtKind, SyncOp, Value},
    layouts::tma::completed_bytes,
    loc::Loc,
};

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
    let mut walk = Walk { kernel, written, slots: Slots::of(kernel), found: Vec::new() };
    walk.region(&kernel.body);
    walk.found
}

struct Walk<'k> {
    kernel: &'k Kernel,
    written: &'k Written,
    slots: Slots<'k>,
    found: Vec<Diagnostic>,
}

/// A copy into shared memory that completes on a barrier.
pub(super) struct Arriving {
    /// The barrier.
    pub(super) barrier: Value,
    /// What the barrier counts, in each block that receives the copy.
    pub(super) bytes: u64,
    /// The blocks that it goes to, if those are several.
    pub(super) mask: Option<Value>,
    /// It takes place under a condition.
    pub(super) guarded: bool,
}

/// The copy into this block's shared memory that an operation starts, if it is one.
pub(super) fn arriving(kernel: &Kernel, op: &Op, args: &[Value]) -> Option<Arriving> {
    let effects = kernel.effects(op, args, None);
    effects.writes().find_map(|access| {
        let (Memory::Shared(window), Done::Barrier(barrier)) = (access.memory, access.done) else {
            return None;
        };
        let window = kernel.ty(window).shared().filter(|window| !window.remote)?;
        let bytes = completed_bytes(kernel, window, &effects);
        let mask = match access.blocks {
            Blocks::Masked(mask) => Some(mask),
            Blocks::One | Blocks::All => None,
        };
        Some(Arriving { barrier, bytes, mask, guarded: access.condition.is_some() })
    })
}

impl Walk<'_> {
    fn region(&mut self, region: &Region) {
        let mut phases: BTreeMap<Slot, Phase> = BTreeMap::new();
        for stmt in &region.stmts {
            let mut inside = Vec::new();
            for inner in stmt.kind.regions() {
                self.region(inner);
                self.touched(inner, &mut inside);
            }
            for slot in inside {
                if let Some(phase) = phases.get_mut(&slot) {
                    phase.open = true;
                }
            }
            let StmtKind::Op { op, args, .. } = &stmt.kind else { continue };
            let of_barrier = args.first().and_then(|&first| self.slots.here(first));
            let ended = match (op, of_barrier) {
                (Op::Sync(SyncOp::Barrier(BarrierOp::Expect)), Some(slot)) => {
                    let begun = self.slots.constant(args[1]).map(|bytes| Phase {
                        bytes,
                        at: self.written.place(stmt.loc, args[1]),
                        copies: 0,
                        copied_at: Vec::new(),
                        open: self.hears_others(args[0]),
                    });
                    let before = phases.remove(&slot);
                    phases.extend(begun.map(|phase| (slot, phase)));
                    before
                }
                (Op::Sync(SyncOp::Barrier(BarrierOp::Wait)), Some(slot)) => phases.remove(&slot),
                (_, _) => None,
            };
            if let Some(phase) = ended {
                self.compare(phase);
            }
            if let Some(copy) = arriving(self.kernel, op, args)
                && let Some(slot) = self.slots.here(copy.barrier)
                && let Some(phase) = phases.get_mut(&slot)
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
    fn touched(&self, region: &Region, out: &mut Vec<Slot>) {
        for stmt in &region.stmts {
            if let StmtKind::Op { op, args, .. } = &stmt.kind
                && let Some(copy) = arriving(self.kernel, op, args)
            {
                out.extend(self.slots.here(copy.barrier));
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
