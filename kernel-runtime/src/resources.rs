//! The resources of a compiled kernel on a device.

use std::fmt;

/// The resources of the code of a launch; see [`Launch::resources`](crate::Launch::resources).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Resources {
    /// Registers of a thread; `None` on the emulator, which runs PTX without allocating registers.
    pub registers: Option<u32>,
    /// Local memory of a thread in bytes, to which registers are spilled; `None` on the emulator.
    pub local_bytes: Option<u32>,
    /// Shared memory of a block in bytes, static and dynamic together.
    pub shared_bytes: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Blocks that one multiprocessor holds at once; for a kernel with clusters, the average.
    pub blocks_per_multiprocessor: u32,
    /// Blocks that the device holds at once, in whole clusters: the most that a cooperative launch may have.
    pub resident_blocks: u32,
}

impl fmt::Display for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shared_bytes, threads, blocks_per_multiprocessor, .. } = self;
        if let (Some(registers), Some(local)) = (self.registers, self.local_bytes) {
            write!(f, "{registers} registers, {local} bytes of local memory, ")?;
        }
        write!(
            f,
            "{shared_bytes} bytes of shared memory, {threads} threads, {blocks_per_multiprocessor} blocks a multiprocessor"
        )
    }
}
