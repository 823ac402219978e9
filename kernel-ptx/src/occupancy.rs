//! How many blocks of a kernel a multiprocessor holds at once, and what limits them.
//!
//! The rules are those of CUDA's occupancy calculator. The figures of each GPU are those of [`Hardware`]; what is the same for all of them
//! stands here.

use crate::{Hardware, Target};

/// Registers are allocated to warps in this unit (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", and the
/// occupancy calculator, "Register allocation unit size", compute capabilities 8.0 to 12.0).
const REGISTER_UNIT: u32 = 256;
/// The parts of a multiprocessor that have registers and a scheduler of their own; a warp stays in its part (occupancy calculator, "Warp
/// allocation granularity").
const PARTITIONS: u32 = 4;
/// The most registers of a thread (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
pub const MOST_REGISTERS: u32 = 255;
/// Shared memory that the system takes of every block (CUDA C++ Programming Guide, "Shared Memory", compute capabilities 8.x, 9.0 and later).
const RESERVED_BYTES: u64 = 1024;
/// Shared memory is allocated in this unit (occupancy calculator, "Shared memory allocation unit size").
const SHARED_UNIT: u64 = 128;
/// Threads of a warp.
pub const LANES: u32 = 32;

/// What a block needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Threads.
    pub threads: u32,
    /// Registers of a thread, if ptxas said.
    pub registers: Option<u32>,
    /// Bytes of shared memory, static and dynamic.
    pub shared_bytes: u64,
    /// Columns of tensor memory.
    pub tensor_columns: u32,
}

/// What limits the blocks of a multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// The blocks that a multiprocessor holds.
    Blocks,
    /// Its warps.
    Warps,
    /// Its registers.
    Registers,
    /// Its shared memory.
    Shared,
    /// Its tensor memory.
    TensorMemory,
}

impl Limit {
    /// Its name in texts.
    pub const fn text(self) -> &'static str {
        match self {
            Limit::Blocks => "blocks",
            Limit::Warps => "warps",
            Limit::Registers => "registers",
            Limit::Shared => "shared memory",
            Limit::TensorMemory => "tensor memory",
        }
    }
}

/// What a multiprocessor holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Blocks at once; 0 if not even one fits.
    pub blocks: u32,
    /// Their warps.
    pub warps: u32,
    /// The warps that the multiprocessor has room for.
    pub most_warps: u32,
    /// What there is no room for another block in; several if they run out together.
    pub limits: Vec<Limit>,
}

/// What a multiprocessor of a GPU holds of a kernel. Without a number of registers, they count for nothing.
///
/// ```
/// use kernel_ptx::{
///     Target,
///     occupancy::{Block, Limit, of},
/// };
///
/// let block = Block { threads: 256, registers: Some(64), shared_bytes: 0, tensor_columns: 0 };
/// let found = of(&block, Target::SM_80.hardware());
/// assert_eq!((found.blocks, found.warps, found.most_warps), (4, 32, 64));
/// assert_eq!(found.limits, [Limit::Registers]);
/// ```
pub fn of(block: &Block, hardware: &Hardware) -> Occupancy {
    let most_warps = hardware.threads_per_multiprocessor / LANES;
    let warps = block.threads.div_ceil(LANES).max(1);
    let by_registers = block.registers.map(|registers| {
        let of_warp = (registers.max(1) * LANES).next_multiple_of(REGISTER_UNIT);
        let in_partition = hardware.registers_per_multiprocessor / PARTITIONS / of_warp;
        in_partition * PARTITIONS / warps
    });
    let shared = block.shared_bytes.saturating_add(RESERVED_BYTES).next_multiple_of(SHARED_UNIT);
    let of_multiprocessor = u64::from(hardware.shared_bytes_per_multiprocessor);
    let too_large = block.shared_bytes > hardware.shared_bytes_per_block.into();
    let by_shared = if too_large { 0 } else { of_multiprocessor / shared };
    let counts = [
        (Limit::Blocks, Some(hardware.blocks_per_multiprocessor)),
        (Limit::Warps, Some(most_warps / warps)),
        (Limit::Registers, by_registers),
        (Limit::Shared, u32::try_from(by_shared).ok()),
        (Limit::TensorMemory, Target::TENSOR_COLUMNS.checked_div(block.tensor_columns)),
    ];
    let blocks = counts.iter().filter_map(|(_, count)| *count).min().unwrap_or(0);
    let limits = counts.iter().filter(|(_, count)| *count == Some(blocks));
    Occupancy {
        blocks,
        warps: blocks * warps,
        most_warps,
        limits: limits.map(|(limit, _)| *limit).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(gpu: &str, threads: u32, registers: u32, shared_bytes: u64) -> (u32, u32, Vec<Limit>) {
        let row = Hardware::ROWS.iter().find(|row| row.model == gpu).expect("a GPU of the table");
        let block = Block { threads, registers: Some(registers), shared_bytes, tensor_columns: 0 };
        let Occupancy { blocks, warps, limits, .. } = of(&block, row);
        (blocks, warps, limits)
    }

    /// Worked out with the rules of CUDA's occupancy calculator: warps of a block, registers of a warp rounded up to 256, warps by
    /// registers rounded down to 4, shared memory with 1024 bytes more rounded up to 128.
    #[test]
    fn blocks_and_warps_are_those_of_the_occupancy_calculator() {
        use Limit::{Blocks, Registers, Shared, Warps};
        // 40 · 32 = 1280; 65536 / 4 / 1280 = 12 warps a partition, 48 in all; 48 / 8 = 6 blocks.
        assert_eq!(found("A100", 256, 40, 0), (6, 48, vec![Registers]));
        // 32 · 32 = 1024; 64 warps by registers and by threads: 8 blocks of 8.
        assert_eq!(found("A100", 256, 32, 0), (8, 64, vec![Warps, Registers]));
        // 33 registers count as 40.
        assert_eq!(found("A100", 256, 33, 0), (6, 48, vec![Registers]));
        // Blocks of one warp: 32 of them, although there is room for 64 warps.
        assert_eq!(found("A100", 32, 32, 0), (32, 32, vec![Blocks]));
        // 164 KiB / (32 KiB + 1 KiB) = 4.96.
        assert_eq!(found("A100", 128, 32, 32 * 1024), (4, 16, vec![Shared]));
        // 228 KiB / 33 KiB = 6.9.
        assert_eq!(found("H200", 128, 32, 32 * 1024), (6, 24, vec![Shared]));
        // 100 KiB / 33 KiB = 3.03.
        assert_eq!(found("RTX 5090", 128, 32, 32 * 1024), (3, 12, vec![Shared]));
        // 168 · 32 = 5376; 16384 / 5376 = 3 warps a partition, 12 in all: one block of 12 warps.
        assert_eq!(found("H200", 384, 168, 200 * 1024), (1, 12, vec![Registers, Shared]));
        // 255 · 32 = 8160, rounded up to 8192: 2 warps a partition.
        assert_eq!(found("B200", 128, 255, 0), (2, 8, vec![Registers]));
        // 48 warps of a multiprocessor hold one block of 1024 threads.
        assert_eq!(found("RTX 5090", 1024, 32, 0), (1, 32, vec![Warps]));
        // Not one: more shared memory than a block can have.
        assert_eq!(found("RTX 5090", 128, 32, 100 * 1024), (0, 0, vec![Shared]));
    }

    #[test]
    fn tensor_memory_limits_blocks() {
        let block = Block { threads: 128, registers: None, shared_bytes: 0, tensor_columns: 256 };
        let found = of(&block, Target::SM_100A.hardware());
        assert_eq!((found.blocks, found.limits), (2, vec![Limit::TensorMemory]));
    }
}
