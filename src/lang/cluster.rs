//! Clusters: blocks that run at the same time and reach each other's shared memory (`sm_90a` and later).
//!
//! On Blackwell a cluster, of one block or several, may also take over the work of one that has not begun: [`try_cancel`].
//!
//! `#[kernel(.., cluster = [2, 1])]` groups the blocks of the grid, up to 8 of them, or 16 on a device that allows it. For blocks that
//! share the columns of a matrix, [`Clustered`](crate::sched::Clustered) says which tile each of them computes.

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

/// Asks for the work of a cluster that has not begun, which then never begins; goes on at once. The answer comes to `answer`, four words in
/// shared memory, and its 16 bytes count on `bar`.
///
/// A grid has a block for each piece of work, and blocks that are done with theirs ask for more: those that run at once share out all of it, the quicker ones more,
/// and the next kernel begins where blocks end early. Behind the wait for `bar` every thread reads the answer, by
/// [`is_canceled`] and [`canceled_block_id`]. A block that was told that there is none does not ask again; of that the answer is undefined.
///
/// In a kernel with clusters every block calls this. The first block of the cluster asks, once for all, and the answer comes to each block: to its own `answer` and on
/// its own `bar`, whose phase expects 16 bytes. The next one is asked for when the threads of all blocks have read this one.
///
/// # PTX
/// `clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128` by one thread, with `.multicast::cluster::all` in
/// a kernel with clusters (PTX ISA, "`clusterlaunchcontrol.try_cancel`").
///
/// # Errors
/// K0502 before `sm_100a`, K0206, K0202 and K0203 for what is no `Shared<u32>` of extents `[4]`, K0402 for one whose layout is pinned, or
/// what another block has, K0411 where the barrier expects other than 16 bytes.
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

/// Whether an answer to [`try_cancel`] is a cluster, whose work this one now does.
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

/// The block whose work this one now does: its coordinate on an axis of the grid, what [`block_id`](super::block_id) gives there. Of several blocks of a cluster each takes
/// over the one at its own place. 0 where the answer is that there is none.
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
