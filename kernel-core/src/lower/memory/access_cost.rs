//! The cost to a warp of reading a tile from shared memory, or of writing it there.

use std::fmt;

use kernel_layout::{Layout, accesses, bank_conflicts};
use la_arena::ArenaMap;

use super::access::bytes;
use super::matrix::Matrices;
use super::shared::{InTile, in_tile, window_type};
use crate::ir::{Does, Elem, Kernel, Shared, Value};

/// Passes beyond the fewest possible, of all accesses of a warp to its part of a tile in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AccessCost {
    conflicts: u32,
}

/// A trip of tiles through shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SharedTrip {
    /// The scratch that it takes.
    pub(crate) bytes: u32,
    /// Passes beyond the fewest possible, of all accesses of a warp.
    pub(crate) conflicts: u32,
}

impl fmt::Display for AccessCost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.conflicts {
            0 => f.write_str("no bank conflicts"),
            1 => f.write_str("1 bank conflict a warp"),
            conflicts => write!(f, "{conflicts} bank conflicts a warp"),
        }
    }
}

impl fmt::Display for SharedTrip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SharedTrip { bytes, conflicts } = *self;
        write!(f, "shared memory, {bytes} bytes, {}", AccessCost { conflicts })
    }
}

/// The cost of reading a window into registers, or of writing it from there: reads use `ldmatrix` if lowering does.
pub(crate) fn access_cost(
    kernel: &Kernel,
    layouts: &ArenaMap<Shared, Layout>,
    does: Does,
    window: Value,
    registers: &Layout,
) -> AccessCost {
    let tile = in_tile(kernel, layouts, window, registers);
    let size = bytes(Elem::Number(window_type(kernel, window).dtype));
    match Matrices::plan(&tile, size).filter(|_| does == Does::Reads) {
        Some(plan) => AccessCost { conflicts: plan.bank_conflicts() },
        None => by_lanes(&tile, size),
    }
}

fn by_lanes(tile: &InTile, size: u32) -> AccessCost {
    let vector = tile.vector(size);
    let InTile { registers, shared, .. } = tile;
    let count = u32::try_from(accesses(registers, shared, vector).len())
        .expect("a thread has few registers");
    AccessCost { conflicts: count * bank_conflicts(registers, shared, size, vector) }
}
