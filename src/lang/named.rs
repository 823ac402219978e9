//! Named barriers: partitions that take turns.

use super::stub;

/// One of the 16 hardware barriers of a block: [`named_barrier`] makes it.
///
/// A phase ends when as many warps have come as the barrier counts, whether they [wait](NamedBarrier::sync) or
/// [go on](NamedBarrier::arrive); the next phase begins with the same count. It keeps no phase parity and counts no
/// bytes, and costs less than a [`Barrier`](super::Barrier). It orders partitions that run the same code, such as two
/// groups of warps that take turns.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// Two partitions of four warps: this one works after the other has arrived.
/// fn take_turns(mine: NamedBarrier, other: NamedBarrier, work: impl Fn()) {
///     mine.sync();
///     work();
///     other.arrive();
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct NamedBarrier(());

/// Makes a named barrier whose phases end after `warps` warps have come; `warps` is known at compile time.
///
/// Every warp of a partition comes when the partition does: for two partitions of four warps, one that waits and one
/// that arrives, the barrier counts 8.
///
/// A block has 16. [`sync`](super::sync) uses one in the kernel's own warps. With
/// [`warp_specialize`](super::warp_specialize), all warps together use one more, and each partition of more than one
/// warp uses one.
///
/// # PTX
/// None: it is a barrier number.
///
/// # Errors
/// K0106 and K0508 for the number of warps; K0508 if too few warps come, or a partition with more warps, and if a block
/// has no barrier left; K0403 in a loop or branch.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn turns() -> (NamedBarrier, NamedBarrier) {
///     (named_barrier(8), named_barrier(8))
/// }
/// ```
#[must_use]
pub fn named_barrier(warps: i32) -> NamedBarrier {
    stub()
}

impl NamedBarrier {
    /// All warps of the partition arrive, and wait until the phase ends.
    ///
    /// They see what the warps that came did before.
    ///
    /// # PTX
    /// `bar.sync id, threads` (PTX ISA, "bar").
    ///
    /// # Errors
    /// K0107 with arguments.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn take(filled: NamedBarrier, tile: Shared<f32>) -> Tile<f32> {
    ///     filled.sync();
    ///     tile.load()
    /// }
    /// ```
    pub fn sync(self) {
        stub()
    }

    /// All warps of the partition arrive, and go on.
    ///
    /// # PTX
    /// `bar.arrive id, threads` (PTX ISA, "bar").
    ///
    /// # Errors
    /// K0107 with arguments.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn give(filled: NamedBarrier, tile: Shared<f32>, values: Tile<f32>) {
    ///     tile.store(values);
    ///     filled.arrive();
    /// }
    /// ```
    pub fn arrive(self) {
        stub()
    }
}
