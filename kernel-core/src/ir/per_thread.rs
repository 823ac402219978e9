//! Values that may differ from thread to thread.
//!
//! A scalar is one value for the whole block: conditions, the ends of loops and coordinates rely on it, and so do the barriers
//! that Kiln places. The result of `ptx!` may differ from thread to thread, and so may what is computed from it, also through
//! a tile, whose elements several threads may hold.

use la_arena::ArenaMap;

use super::{Kernel, MemoryOp, Op, StmtKind, Value, flow};
use crate::loc::Loc;

impl Kernel {
    /// The values that may differ from thread to thread, each with the place of the `ptx!` from which it comes.
    pub fn per_thread(&self) -> ArenaMap<Value, Loc> {
        flow::spread(
            &self.body,
            &mut |stmt| {
                let StmtKind::Ptx { code, results, .. } = &stmt.kind else { return None };
                (!code.is_uniform()).then(|| (results.clone(), stmt.loc))
            },
            // One thread changes memory, and gives the others what it found.
            &mut |stmt| {
                let is_atomic = matches!(
                    stmt.kind,
                    StmtKind::Op {
                        op: Op::Memory(
                            MemoryOp::Atomic(..)
                                | MemoryOp::AtomicTensor { .. }
                                | MemoryOp::AtomicShared(_)
                        ),
                        ..
                    }
                );
                if is_atomic { Vec::new() } else { stmt.kind.results() }
            },
        )
    }
}
