//! Clusters: blocks that run at the same time and reach each other's shared memory (`sm_90a` and later).
//!
//! `#[kernel(.., cluster = [2, 1])]` groups the blocks of the grid, up to 8 of them, or 16 on a device that allows it. For blocks that
//! share the columns of a matrix, [`Clustered`](crate::sched::Clustered) says which tile each of them computes.

use super::stub;

/// The rank of this block in its cluster, from 0.
///
/// # PTX
/// `%cluster_ctarank`.
///
/// # Errors
/// K0502 on `sm_80`.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn leads() -> bool {
///     cluster::rank() == 0
/// }
/// ```
#[must_use]
pub fn rank() -> i32 {
    stub()
}

/// The blocks of a cluster; known when compiling.
///
/// # PTX
/// None: a constant.
///
/// # Errors
/// K0502 on `sm_80`.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn all() -> i32 {
///     (1 << cluster::size()) - 1
/// }
/// ```
#[must_use]
pub fn size() -> i32 {
    stub()
}

/// This block's coordinate in its cluster, on an axis of the grid.
///
/// # PTX
/// `%cluster_ctaid.x` and so on.
///
/// # Errors
/// K0502 on `sm_80`, K0205 for an axis beyond 2.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn half(rows: i32) -> i32 {
///     cluster::block_id(0) * rows / 2
/// }
/// ```
#[must_use]
pub fn block_id(axis: usize) -> i32 {
    stub()
}

/// The cluster's coordinate in the grid of clusters, on an axis.
///
/// # PTX
/// `%clusterid.x` and so on.
///
/// # Errors
/// Those of [`block_id`].
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn tile() -> i32 {
///     cluster::id(0)
/// }
/// ```
#[must_use]
pub fn id(axis: usize) -> i32 {
    stub()
}

/// Every thread of every block of the cluster waits for the others, and sees what they wrote.
///
/// A block ends only when no other block uses its shared memory or its barriers any more. Where a kernel reaches another block,
/// by [`Shared::of_block`](super::Shared::of_block) or [`Barrier::of_block`](super::Barrier::of_block), and does not end with this, the
/// compiler puts it there.
///
/// # PTX
/// `barrier.cluster.arrive.release.aligned`, `barrier.cluster.wait.acquire.aligned` (PTX ISA, `barrier.cluster`).
///
/// # Errors
/// K0502 on `sm_80`.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn last() {
///     cluster::sync();
/// }
/// ```
pub fn sync() {
    stub()
}

/// The first half of [`sync`]: this block has come so far.
///
/// PTX and errors: those of [`sync`](sync()), of which this is the first instruction.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn overlapped(work: impl Fn()) {
///     cluster::arrive();
///     work();
///     cluster::wait();
/// }
/// ```
pub fn arrive() {
    stub()
}

/// The second half of [`sync`]: waits for the others that [`arrive`].
///
/// PTX and errors: those of [`sync`](sync()), of which this is the second instruction.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn meet() {
///     cluster::arrive();
///     cluster::wait();
/// }
/// ```
pub fn wait() {
    stub()
}
