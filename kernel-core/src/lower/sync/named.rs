//! Named barriers: partitions that wait for warps of each other (PTX ISA, "barrier").

use kernel_ptx::{Instruction, Opcode, Operand, Word};

use crate::ir::{Named, NamedOp};
use crate::lower::emitter::{Meets, mods};
use crate::lower::{LANES, Lower};

impl Lower<'_> {
    /// Every warp of the partition arrives at a named barrier.
    ///
    /// What its threads have done before is there for those that wait: that holds for arrivals as for waits.
    pub(crate) fn named(&mut self, op: NamedOp, named: Named) {
        let number = Operand::Int(i128::from(self.kernel.named_barrier(named)));
        let threads = Operand::Int(i128::from(self.kernel.named[named].warps * LANES));
        let (word, meets) = match op {
            NamedOp::Sync => (Word::Sync, Meets::CrewAndMore),
            NamedOp::Arrive => (Word::Arrive, Meets::Nobody),
        };
        self.e.meeting(Instruction::new(Opcode::Bar, mods![word], [number, threads]), 0, meets);
        if op == NamedOp::Sync {
            self.plan.busy = 0;
        }
    }
}
