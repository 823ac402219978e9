//! Clusters: blocks that run at the same time and access each other's shared memory (`sm_90a` and later).
//!
//! On Blackwell a cluster, of one block or several, may also take over the work of one that has not started:
//! [`try_cancel`].
//!
//! `#[kernel(.., cluster = [2, 1])]` groups the blocks of the grid, up to 8 in a cluster, or 16 on a device that allows
//! it. For blocks that share the columns of a matrix, [`Clustered`](crate::sched::Clustered) says which tile each of
//! them computes.

use super::barrier::Barrier;
use super::shared::Shared;
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

/// The number of blocks in a cluster; known at compile time.
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
/// A block must not end while another block uses its shared memory or its barriers. If a kernel accesses another block
/// with [`Shared::of_block`](super::Shared::of_block) or [`Barrier::of_block`](super::Barrier::of_block) and does not
/// end with `sync`, the compiler inserts it there.
///
/// # PTX
/// `barrier.cluster.arrive.release.aligned`, `barrier.cluster.wait.acquire.aligned` (PTX ISA, `barrier.cluster`). None where nothing
/// stands between it and another one: a kernel with barriers in shared memory begins with one.
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

/// The first half of [`sync`]: this block arrives.
///
/// PTX and errors: those of [`sync`](sync()); this is its first instruction.
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
/// PTX and errors: those of [`sync`](sync()); this is its second instruction.
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

/// Asks for the work of a cluster that has not started, and goes on at once; that cluster then never starts. The
/// hardware writes the answer to `answer`, four words in shared memory, and its 16 bytes count on `bar`.
///
/// The grid has a block for each piece of work. Blocks that finish ask for more, so fast blocks do more of the work,
/// and the next kernel can start where blocks end early. After waiting on `bar`, every thread reads the answer with
/// [`is_canceled`] and [`canceled_block_id`]. After the answer that no work is left, a block must not ask again: the
/// answer would be undefined.
///
/// In a kernel with clusters every block calls this. The first block of the cluster asks once for all, and each block
/// gets the answer in its own `answer` and on its own `bar`, whose phase expects 16 bytes. Ask again only when the
/// threads of all blocks have read this answer.
///
/// # PTX
/// `clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128` by one thread, with `.multicast::cluster::all` in
/// a kernel with clusters (PTX ISA, "`clusterlaunchcontrol.try_cancel`").
///
/// # Errors
/// K0502 before `sm_100f`, K0206, K0202 and K0203 if `answer` is not a `Shared<u32>` of extents `[4]`, K0402 if its
/// layout is pinned or it is in another block, K0411 if the barrier does not expect 16 bytes.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// Doubles a row for each block of the grid.
/// #[kernel(target = sm_100a, warps = 4, grid = x.dim(0))]
/// fn double(x: TensorMut<f32, 2>) {
///     let answer = shared::<u32>([4]);
///     let told = barrier(1);
///     let (mut row, mut phase, mut more) = (block_id(0), 0, true);
///     while more {
///         told.expect(16);
///         cluster::try_cancel(answer, told);
///         let tile = x.tile([row, 0], [1, 512]);
///         tile.store(tile.load() * 2.0);
///         told.wait(phase);
///         phase ^= 1;
///         more = cluster::is_canceled(answer);
///         row = cluster::canceled_block_id(answer, 0);
///         sync(); // all threads have read the answer
///     }
/// }
/// ```
pub fn try_cancel(answer: Shared<u32>, bar: Barrier) {
    stub()
}

/// Whether the answer to [`try_cancel`] is a cluster whose work this one now does.
///
/// # PTX
/// `ld.shared.b128`, `fence.proxy.async.shared::cta` and `clusterlaunchcontrol.query_cancel.is_canceled.pred.b128` (PTX ISA,
/// "`clusterlaunchcontrol.query_cancel`").
///
/// # Errors
/// Those of [`try_cancel`] that are about the answer.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn is_more(answer: Shared<u32>, told: Barrier, phase: i32) -> bool {
///     told.wait(phase);
///     cluster::is_canceled(answer)
/// }
/// ```
#[must_use]
pub fn is_canceled(answer: Shared<u32>) -> bool {
    stub()
}

/// The coordinate, on an axis of the grid, of the block whose work this one now does: what
/// [`block_id`](super::block_id) gives in that block. In a cluster each block takes over the block at its own place. 0
/// if the answer is that no work is left.
///
/// # PTX
/// That of [`is_canceled`], and `clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128` and so on; in a kernel with clusters
/// `%cluster_ctaid.x` is added.
///
/// # Errors
/// Those of [`is_canceled`], and K0205 for an axis beyond 2.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn next(answer: Shared<u32>) -> (i32, i32) {
///     (cluster::canceled_block_id(answer, 0), cluster::canceled_block_id(answer, 1))
/// }
/// ```
#[must_use]
pub fn canceled_block_id(answer: Shared<u32>, axis: usize) -> i32 {
    stub()
}
