//! Copies of the asynchronous proxy: what bulk copies and tensor copies have in common (PTX ISA, "Data
//! Movement and Conversion Instructions: Bulk copy", "Tensor copy").
//!
//! A copy into shared memory is a [`flight`]: it lands, and its mbarrier counts its bytes, when a thread
//! waits for that mbarrier. A copy to global memory belongs to a [`group`] of its thread: it holds its
//! source until the thread waits for the group. Both are as late as the program's own waits permit, and
//! touching their bytes before is a fault.

pub(crate) mod copy;
pub(crate) mod flight;
pub(crate) mod group;

use crate::code::{AsyncCopy, BulkCopy, BulkWay, Op, Slot, TensorWay, W};
use crate::fault::{FaultKind, Run, Trap};
use crate::machine::{Context, Launch, Warp};
use crate::memory::Allocation;
use crate::memory::shared::{RANK_SHIFT, SHARED_BASE};

/// A place in the shared memory of a block of the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) block: usize,
    /// From the start of the block's shared memory.
    pub(crate) offset: u32,
}

impl Spot {
    /// Its address in the shared window.
    pub(crate) fn address(self) -> u32 {
        let rank = u32::try_from(self.block).expect("clusters are small");
        rank << RANK_SHIFT | (SHARED_BASE + self.offset)
    }
}

/// The lane that issued a copy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Issuer {
    pub(crate) block: usize,
    pub(crate) warp: u32,
    pub(crate) lane: u32,
    pub(crate) pc: u32,
}

/// Consecutive bytes of shared memory that hold the next bytes of a copy's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// From the start of the block's shared memory.
    pub(crate) offset: u32,
    pub(crate) bytes: u32,
}

/// Consecutive bytes of global memory, and where they are in a copy's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) address: u64,
    pub(crate) start: usize,
    pub(crate) bytes: usize,
}

/// A lane's value of a 32-bit operand, which must be defined.
pub(crate) fn word(warp: &Warp, slot: W, lane: usize, use_: &str) -> Run<u32> {
    if warp.regs.w_defined(slot) >> lane & 1 == 0 {
        return Err(super::uninitialised(warp, Slot::W(slot), 1 << lane, use_));
    }
    Ok(warp.regs.w(slot)[lane])
}

/// The place of `bytes` bytes at an address of the shared window.
pub(crate) fn spot(
    cx: &Context<'_>,
    address: u64,
    (bytes, align): (u32, u64),
    what: &str,
) -> Run<Spot> {
    let fault = |kind, detail| Err(Trap::new(kind, detail).address(address));
    let rank = address >> RANK_SHIFT;
    let Some(block) = usize::try_from(rank).ok().filter(|&rank| rank < cx.cluster.blocks.len())
    else {
        let blocks = cx.cluster.blocks.len();
        return fault(
            FaultKind::OutOfBounds,
            format!(
                "{what} at {address:#x}, which is no address of shared memory in a cluster of {blocks}"
            ),
        );
    };
    if !address.is_multiple_of(align) {
        return fault(
            FaultKind::Misaligned,
            format!("{what} at shared address {address:#x}, which is not a multiple of {align}"),
        );
    }
    let size = u64::from(cx.cluster.blocks[block].shared.bytes());
    let base = rank << RANK_SHIFT | u64::from(SHARED_BASE);
    let offset = address.wrapping_sub(base);
    if offset > size || u64::from(bytes) > size - offset {
        return fault(
            FaultKind::OutOfBounds,
            format!(
                "{what} of {bytes} bytes at shared address {address:#x}, outside the block's {size} bytes of shared memory at {base:#x}"
            ),
        );
    }
    Ok(Spot { block, offset: u32::try_from(offset).expect("shared memory is small") })
}

/// Like [`spot`], in the executing block's own shared memory.
pub(crate) fn own_spot(cx: &Context<'_>, address: u64, size: (u32, u64), what: &str) -> Run<Spot> {
    let spot = spot(cx, address, size, what)?;
    if spot.block == cx.block {
        return Ok(spot);
    }
    let (own, other) = (cx.block, spot.block);
    let detail = format!(
        "{what} at shared address {address:#x}, in block {other} of the cluster; it must be in the executing block, {own}"
    );
    Err(Trap::new(FaultKind::WrongSpace, detail).address(address))
}

/// The allocation that holds bytes of global memory, and where they start in it.
pub(crate) fn global<'a>(
    launch: &'a Launch<'_>,
    guess: &mut usize,
    (address, bytes): (u64, u64),
    what: &str,
) -> Run<(&'a Allocation, u64)> {
    let fault = |detail: String| Err(Trap::new(FaultKind::OutOfBounds, detail).address(address));
    let Some(memory) = launch.allocation(address, guess) else {
        return fault(format!(
            "{what} of {bytes} bytes of global memory at {address:#x}, where nothing is allocated"
        ));
    };
    let offset = address - memory.base;
    if bytes > memory.bytes - offset {
        let (base, size) = (memory.base, memory.bytes);
        return fault(format!(
            "{what} of {bytes} bytes of global memory at {address:#x}, across the end of the allocation of {size} bytes at {base:#x}"
        ));
    }
    Ok((memory, offset))
}

/// Reads rows of global memory into their places in `data`; the places of bytes never written.
pub(crate) fn read_rows(
    launch: &Launch<'_>,
    guess: &mut usize,
    rows: &[Row],
    data: &mut [u8],
) -> Run<Vec<usize>> {
    let mut missing = Vec::new();
    for row in rows {
        let (memory, offset) =
            global(launch, guess, (row.address, row.bytes as u64), "an asynchronous copy")?;
        let target = &mut data[row.start..row.start + row.bytes];
        if memory.read(offset, target).is_some() {
            let mut byte = [0];
            let unwritten = |at: &u64| memory.read(offset + at, &mut byte).is_some();
            let places = (0..row.bytes as u64).filter(unwritten);
            missing.extend(
                places.map(|at| {
                    row.start + usize::try_from(at).expect("a row fits the host's memory")
                }),
            );
        }
    }
    Ok(missing)
}

/// The bytes that pieces cover, as few ranges.
pub(crate) fn ranges(pieces: &[Piece]) -> Vec<Piece> {
    let starts = pieces.iter().map(|piece| piece.offset);
    let ends = pieces.iter().map(|piece| piece.offset + piece.bytes);
    let bytes: u32 = pieces.iter().map(|piece| piece.bytes).sum();
    if let (Some(start), Some(end)) = (starts.min(), ends.max())
        && end - start == bytes
    {
        // Pieces do not overlap, so nothing is missing between them.
        return vec![Piece { offset: start, bytes }];
    }
    let mut sorted = pieces.to_vec();
    sorted.sort_unstable_by_key(|piece| piece.offset);
    let mut ranges: Vec<Piece> = Vec::new();
    for piece in sorted {
        match ranges.last_mut() {
            Some(last) if last.offset + last.bytes == piece.offset => last.bytes += piece.bytes,
            Some(_) | None => ranges.push(piece),
        }
    }
    ranges
}

/// Copies in bulk, and the groups of a thread's copies.
pub(crate) fn step(cx: &mut Context<'_>, warp: &mut Warp, op: &BulkCopy, mask: u32) -> Run<()> {
    match op {
        BulkCopy::Bytes(copy) => copy::issue(cx, warp, copy, mask),
        BulkCopy::Tensor(copy) => super::tma::issue(cx, warp, copy, mask),
        BulkCopy::Store(store) => copy::store(cx, warp, store, mask),
        BulkCopy::Commit => {
            warp.bulk.commit(mask);
            Ok(())
        }
        BulkCopy::Wait { keep, reads_only } => group::wait(cx, warp, (*keep, *reads_only), mask),
    }
}

/// How to wait for an asynchronous copy.
pub(crate) fn advice(op: &Op) -> &'static str {
    const LOAD: &str = "wait for its mbarrier first (`mbarrier.try_wait`)";
    const STORE: &str =
        "its thread waits for it first (`cp.async.bulk.wait_group.read`, then a barrier)";
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others copy nothing")]
    match op {
        _ if is_store(op) => STORE,
        Op::Bulk(BulkCopy::Bytes(_) | BulkCopy::Tensor(_) | BulkCopy::Store(_))
        | Op::CpAsync(AsyncCopy::Arrive { .. }) => LOAD,
        Op::Wgmma(_) => {
            "each of the four warps waits for it first (`wgmma.wait_group`, then a barrier)"
        }
        Op::Tcgen05(_) => {
            "wait for the mbarrier of its `tcgen05.commit` first (`mbarrier.try_wait`)"
        }
        _ => "wait for the copy first (`cp.async.wait_group`, then a barrier)",
    }
}

/// The instruction that waits for an asynchronous operation.
pub(crate) fn wait_of(op: &Op) -> &'static str {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others copy nothing")]
    match op {
        _ if is_store(op) => STORE_WAIT,
        Op::Bulk(_) | Op::Tcgen05(_) | Op::CpAsync(AsyncCopy::Arrive { .. }) => "mbarrier.try_wait",
        Op::Wgmma(_) => "wgmma.wait_group",
        _ => "cp.async.wait_group",
    }
}

/// What waits for a bulk copy from shared to global memory.
const STORE_WAIT: &str = "cp.async.bulk.wait_group";

/// Whether it is a bulk copy from shared to global memory.
pub(crate) fn is_store(op: &Op) -> bool {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others copy nothing")]
    match op {
        Op::Bulk(BulkCopy::Bytes(copy)) => matches!(copy.way, BulkWay::Store { .. }),
        Op::Bulk(BulkCopy::Tensor(copy)) => matches!(copy.way, TensorWay::Store { .. }),
        _ => false,
    }
}

/// The last warp of a block left the kernel: what may be left of its copies.
///
/// # Errors
/// A copy that has still to read or write the block's shared memory, which is another block's from here on.
pub(crate) fn leave(cx: &mut Context<'_>, warps: &mut [Warp]) -> Run<()> {
    flight::leave(cx)?;
    super::async_copy::leave(cx);
    super::tcgen05::leave(cx)?;
    for warp in warps {
        group::leave(cx, warp)?;
    }
    cx.block().left = true;
    Ok(())
}
