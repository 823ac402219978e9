//! The blocks that have a row together: one, or those of a cluster.

use kiln::prelude::*;

/// The position of this block among the `C` blocks of a row.
#[device]
pub(crate) fn rank<const C: i32>() -> i32 {
    if C > 1 { cluster::rank() } else { 0 }
}

/// Waits for the other blocks of the row.
#[device]
pub(crate) fn meet<const C: i32>() {
    if C > 1 {
        cluster::sync();
    } else {
        sync();
    }
}

/// The shared memory of one of the blocks of the row.
#[device]
pub(crate) fn of_block<const C: i32>(here: Shared<f32>, rank: i32) -> Shared<f32> {
    if C > 1 { here.of_block(rank) } else { here }
}
