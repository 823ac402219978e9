//! What reductions and scans exchange between warps: the shared memory that it takes, and bank conflicts.

use std::collections::BTreeSet;
use std::fmt;

use kernel_layout::forms::{LANES, blocked_for};
use kernel_layout::{Dim, Layout};

use super::convert::exchange_cost;
use super::reduce::{Parts, separates, warps_along};
use super::scan;
use crate::ir::{Direction, Elem};
use crate::lower::memory::access::VECTOR_BYTES;
use crate::lower::memory::access_cost::SharedTrip;

/// Banks of shared memory, of 4 bytes each.
const BANKS: u32 = 32;
/// The bytes of one word of a bank.
const WORD_BYTES: u32 = 4;

/// How far the elements of an axis come together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Crossing {
    /// Within each thread.
    Threads,
    /// Between the lanes of each warp, by shuffles.
    Lanes,
    /// Between warps, with barriers.
    Shared(SharedTrip),
}

impl fmt::Display for Crossing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Crossing::Threads => f.write_str("within threads"),
            Crossing::Lanes => f.write_str("between lanes"),
            Crossing::Shared(trip) => trip.fmt(f),
        }
    }
}

fn by_threads(layout: &Layout, axis: usize) -> Crossing {
    let lanes = layout.bases(Dim::Lane).iter().any(|basis| basis[axis] != 0);
    if lanes { Crossing::Lanes } else { Crossing::Threads }
}

/// What lowering does for a scan of an axis of tiles in one layout.
pub(crate) fn scan_cost(
    elems: &[Elem],
    layout: &Layout,
    (axis, direction): (usize, Direction),
    warps: u32,
) -> Crossing {
    let trip = scan::through_shared(elems, layout, (axis, direction), warps);
    trip.map_or_else(|| by_threads(layout, axis), Crossing::Shared)
}

/// What lowering does for a reduction of an axis of tiles in one layout, to results in the layout `to`; none for scalars.
pub(crate) fn reduce_cost(
    elems: &[Elem],
    layout: &Layout,
    axis: usize,
    warps: u32,
    to: Option<&Layout>,
) -> Crossing {
    let mut layout = layout.clone();
    if !separates(&layout, axis) {
        let order: Vec<u32> = (0u32..).take(layout.shape().len()).collect();
        layout = blocked_for(&layout.shape(), &order, 1, warps);
    }
    let along = warps_along(&layout, axis);
    if along.is_empty() {
        return by_threads(&layout, axis);
    }
    // As `reduce::across_warps` has it.
    let rest = layout.slice(axis);
    let parts = Parts::new(&rest, &along, to.unwrap_or(&rest));
    let (mut bytes, mut conflicts) = (0, 0);
    for &elem in elems {
        let trip = exchange_cost(elem, &parts.writer, &parts.reader);
        bytes += trip.bytes.next_multiple_of(VECTOR_BYTES);
        conflicts += trip.conflicts;
    }
    Crossing::Shared(SharedTrip { bytes, conflicts })
}

/// The passes beyond the fewest possible of one access of a warp, in which each lane that takes part accesses `size` bytes at the
/// exclusive or of its bits' `bases`, in bytes.
///
/// Elements of 8 bytes are served half a warp at a time, as in [`kernel_layout::bank_conflicts`].
pub(crate) fn extra_passes(bases: &[u32], size: u32, takes_part: impl Fn(u32) -> bool) -> u32 {
    let at_once = if size > WORD_BYTES { LANES / 2 } else { LANES };
    let address = |lane: u32| {
        let bits = bases.iter().enumerate().filter(|(bit, _)| lane >> bit & 1 == 1);
        bits.fold(0, |at, (_, basis)| at ^ basis)
    };
    let passes = |first: u32| {
        let lanes = (first..first + at_once).filter(|&lane| takes_part(lane));
        let words: BTreeSet<u32> = lanes
            .flat_map(|lane| {
                let start = address(lane);
                start / WORD_BYTES..(start + size).div_ceil(WORD_BYTES)
            })
            .collect();
        let of_bank = |bank| words.iter().filter(|&&word| word % BANKS == bank).count();
        let most = (0..BANKS).map(of_bank).max().unwrap_or(0);
        u32::try_from(most.saturating_sub(1)).expect("a warp has 32 lanes")
    };
    (0..LANES).step_by(at_once as usize).map(passes).sum()
}
