//! Registers that a `tcgen05.ld` is to write (PTX ISA, "`tcgen05.wait`"): what they hold before the wait is not defined.

use crate::code::{Slot, W};
use crate::fault::{FaultKind, Run, Trap};

/// The loads of one warp from tensor memory, numbered from 1.
#[derive(Debug, Default)]
pub(crate) struct Loads {
    /// By number of the word register: the last load that writes it, and its instruction.
    uses: Vec<(u64, u32)>,
    issued: u64,
    /// Loads up to here are over.
    waited: u64,
}

impl Loads {
    /// Forgets everything; `registers` is how many word registers a kernel with loads has.
    pub(crate) fn reset(&mut self, registers: usize) {
        self.uses.clear();
        self.uses.resize(registers, (0, 0));
        (self.issued, self.waited) = (0, 0);
    }

    /// A load is issued.
    pub(crate) fn issue(&mut self, pc: u32, registers: &[W]) {
        self.issued += 1;
        for register in registers {
            self.uses[register.0 as usize] = (self.issued, pc);
        }
    }

    /// `tcgen05.wait::ld`
    pub(crate) fn wait(&mut self) {
        self.waited = self.issued;
    }

    /// An instruction touches registers.
    ///
    /// # Errors
    /// One of them belongs to a load that the warp has not waited for.
    pub(crate) fn touch(&self, registers: &[W]) -> Run<()> {
        if self.waited == self.issued {
            return Ok(());
        }
        for &register in registers {
            let (load, pc) = self.uses[register.0 as usize];
            if load > self.waited {
                let detail = "is written by a `tcgen05.ld` in flight when it is touched: a `tcgen05.wait::ld` is missing before";
                let mut trap = Trap::new(FaultKind::AsyncInFlight, detail);
                trap.slot = Some(Slot::W(register));
                trap.product = Some(pc);
                return Err(trap);
            }
        }
        Ok(())
    }
}
