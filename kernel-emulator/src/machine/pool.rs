//! The registers of a block, which `setmaxnreg` moves between warps (PTX ISA, "setmaxnreg").
//!
//! A block is launched with this many registers for each thread. A warp may release some and another take
//! them; nothing else is added to a block's own. The numbers at the launch are those of `ptxas`: what
//! `.maxnreg` permits, or what the register file has for the threads and blocks of `.maxntid` or `.reqntid`
//! and `.minnctapersm`, and no more than the largest number that the kernel asks for. Where neither is
//! given, `ptxas` ignores the instruction (its message C7508), and so does the emulator.

use crate::machine::warpgroup::WARPS;

/// Registers of a multiprocessor.
const FILE: u32 = 65_536;
/// The most registers of a thread.
pub(crate) const MOST: u32 = 256;

/// Registers of a thread at the launch: those of `.maxnreg`, or of the most threads and least blocks.
pub(crate) fn at_entry(max: Option<u32>, threads: Option<u32>, blocks: Option<u32>) -> Option<u32> {
    let bounds = threads.zip(blocks).map(|(threads, blocks)| {
        let threads = threads.max(1).next_multiple_of(32 * WARPS);
        (FILE / (threads * blocks.max(1))) & !7
    });
    // `ptxas` ignores more than a thread can have, but then knows all the same.
    match (max, bounds) {
        (None, None) => None,
        (max, bounds) => Some(max.unwrap_or(MOST).min(bounds.unwrap_or(MOST)).min(MOST)),
    }
}

/// The registers of a block.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    /// Registers that no warp has.
    pub(crate) free: u32,
    /// Registers of each thread, by warp.
    pub(crate) warps: Vec<u32>,
    /// The numbers that each warpgroup was set to, and how many of these each of its warps executed.
    pub(crate) history: Vec<Vec<u32>>,
    pub(crate) executed: Vec<usize>,
    /// The warps that left.
    pub(crate) left: u32,
}

impl Pool {
    /// The registers at the launch.
    pub(crate) fn reset(&mut self, warps: u32, registers: u32) {
        let count = warps as usize;
        self.free = 0;
        self.warps.clear();
        self.warps.resize(count, registers);
        self.history.clear();
        self.history.resize(count.div_ceil(WARPS as usize), Vec::new());
        self.executed.clear();
        self.executed.resize(count, 0);
        self.left = 0;
    }
}
