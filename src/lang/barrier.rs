//! Mbarriers: asynchronous copies complete on them, and partitions wait on them for each other.

use core::ops::Index;

use super::stub;

/// An mbarrier in shared memory (`sm_90a` and later): [`barrier`] makes one, [`barriers`] several.
///
/// It counts arrivals, and the bytes of copies that complete on it. A phase ends when as many partitions have arrived
/// as [`barrier`] was given, and as many bytes have come as were [expected](Barrier::expect). Then the next phase
/// begins with the same count. A phase is known by its parity, 0 for the first, 1 for the second, 0 for the third. A
/// waiting thread keeps count with `phase ^= 1`, and is at most one phase behind. A wait for parity 1 on a new barrier
/// returns at once.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// Copies a tile to shared memory, and waits for it.
/// fn fetch(x: TensorMap<f16, 2>, to: Shared<f16>, arrived: Barrier) {
///     arrived.expect(x.block_bytes());
///     tma::load(x, [0, 0], arrived, to);
///     arrived.wait(0);
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Barrier(());

/// Several mbarriers: `bars[i]` is one, with an `i32` that may be known only at run time; one out of range
/// stops the kernel, like that of a [ring](super::Shared#rings). For buffers that are filled and read in turns, [`Ring`](crate::Ring) keeps the index and the phase.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn next(full: Barriers, slot: i32, phase: i32) {
///     full[slot].wait(phase);
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Barriers(());

/// Makes an mbarrier whose phases end after `count` arrivals.
///
/// An arrival is [`Barrier::arrive`] by a partition (without [`warp_specialize`](super): by the block), or one
/// [`Barrier::expect`]. `count` is known at compile time, 1 to 16384. The barrier is ready when the kernel starts.
///
/// # PTX
/// `mbarrier.init.shared::cta.b64`, `fence.mbarrier_init.release.cluster` and a barrier at the start. Every warp of a
/// partition arrives by itself, so the count in the hardware is `count` times the warps of the largest partition that
/// arrives. (PTX ISA, "mbarrier.init".)
///
/// # Errors
/// K0502 on `sm_80`, K0403 in a loop or branch, K0106 and K0207 for the count.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn one() -> Barrier {
///     barrier(1)
/// }
/// ```
#[must_use]
pub fn barrier(count: i32) -> Barrier {
    stub()
}

/// Makes `number` mbarriers whose phases end after `count` arrivals each; `number` is known at compile time, 1 to 1024.
///
/// # PTX
/// That of [`barrier`] for each.
///
/// # Errors
/// Those of [`barrier`], and K0201 for the number.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn ring<const STAGES: i32>() -> (Barriers, Barriers) {
///     (barriers(STAGES, 1), barriers(STAGES, 1))
/// }
/// ```
#[must_use]
pub fn barriers(number: i32, count: i32) -> Barriers {
    stub()
}

impl Index<i32> for Barriers {
    type Output = Barrier;

    fn index(&self, index: i32) -> &Barrier {
        stub()
    }
}

impl Barriers {
    /// The number of barriers; known at compile time.
    ///
    /// # PTX
    /// None: a constant.
    ///
    /// # Errors
    /// None.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn stages(full: Barriers) -> i32 {
    ///     full.len()
    /// }
    /// ```
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "there is at least one")]
    pub fn len(self) -> i32 {
        stub()
    }
}

impl Barrier {
    /// Arrives, and makes the phase expect `bytes` bytes of copies as well.
    ///
    /// It counts as one arrival of the partition. The bytes are those of all copies that complete on the barrier in
    /// this phase, including parts that are outside a tensor: `map.block_bytes()`, `tile.bytes()`. The compiler checks
    /// constants; with [`expect_copies`](Barrier::expect_copies) it counts the bytes itself.
    ///
    /// # PTX
    /// `mbarrier.arrive.expect_tx.shared::cta.b64` by one thread (PTX ISA, `mbarrier.arrive`).
    ///
    /// # Errors
    /// K0206 for bytes that are not an `i32`, K0207 beyond 2^20 - 1, K0411 if the copies deliver another number of
    /// bytes, K0402 for several barriers.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn announce(full: Barrier, a: TensorMap<f16, 2>, b: TensorMap<f16, 2>) {
    ///     full.expect(a.block_bytes() + b.block_bytes());
    /// }
    /// ```
    pub fn expect(self, bytes: i32) {
        stub()
    }

    /// Arrives, and makes the phase expect the bytes of the copies that follow; the compiler counts them.
    ///
    /// It counts as one arrival of the partition, like [`expect`](Barrier::expect). The compiler counts the TMA copies
    /// and bulk copies to shared memory that complete on this barrier in the same run of statements, up to the next
    /// wait, `expect` or `expect_copies` on it. It refuses copies in a branch, a loop or a partition inside that run,
    /// under a condition (`.when`), or to several blocks (`.multicast`: every receiving block waits for all that it
    /// receives), and barriers that other blocks of the cluster use. For these, use `expect`, whose number is always
    /// taken as it is.
    ///
    /// # PTX
    /// That of [`expect`](Barrier::expect) with a constant.
    ///
    /// # Errors
    /// K0411 for copies that are not counted, or none; K0207 beyond 2^20 - 1 bytes; K0402 for several barriers.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn fetch(full: Barrier, a: TensorMap<f16, 2>, left: Shared<f16>, b: TensorMap<f16, 2>, right: Shared<f16>) {
    ///     full.expect_copies();
    ///     tma::load(a, [0, 0], full, left);
    ///     tma::load(b, [0, 0], full, right);
    ///     full.wait(0);
    /// }
    /// ```
    pub fn expect_copies(self) {
        stub()
    }

    /// Arrives once every thread of the partition has come here, and goes on.
    ///
    /// Reads and writes of the partition before it are ordered before what follows a wait for this phase.
    ///
    /// # PTX
    /// `bar.warp.sync`, and `mbarrier.arrive.shared::cta.b64` by one lane of each warp (PTX ISA, `mbarrier.arrive`).
    ///
    /// # Errors
    /// K0402 for several barriers.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// The buffer may be filled again.
    /// fn release(empty: Barriers, slot: i32) {
    ///     empty[slot].arrive();
    /// }
    /// ```
    pub fn arrive(self) {
        stub()
    }

    /// Waits for the end of the phase of parity `phase`, 0 or 1.
    ///
    /// # PTX
    /// A loop of `mbarrier.try_wait.parity.shared::cta.b64` in every thread (PTX ISA, `mbarrier.try_wait`).
    ///
    /// # Errors
    /// K0206 for a phase that is not an `i32`, K0207 for a constant other than 0 and 1, K0402 for a barrier of another
    /// block.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn take(full: Barrier, tile: Shared<f16>) -> Tile<f16> {
    ///     full.wait(0);
    ///     tile.load()
    /// }
    /// ```
    pub fn wait(self, phase: i32) {
        stub()
    }

    /// Whether the phase of parity `phase` has ended, for all threads of the partition at once.
    ///
    /// The instruction may wait for the end of the phase, up to a time that the hardware sets. If the phase has ended,
    /// it returns at once.
    ///
    /// # PTX
    /// `mbarrier.try_wait.parity.shared::cta.b64` and `bar.red.and.pred`, in a partition of one warp `vote.sync.all.pred` (PTX ISA,
    /// `mbarrier.try_wait`).
    ///
    /// # Errors
    /// Those of [`wait`](Barrier::wait).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn is_there(full: Barrier) -> bool {
    ///     full.try_wait(0)
    /// }
    /// ```
    #[must_use]
    pub fn try_wait(self, phase: i32) -> bool {
        stub()
    }

    /// Arrives at a barrier of another block, [`of_block`](Barrier::of_block), and says only that what this partition has waited for is over:
    /// products that have read shared memory, say. What its threads stored is not ordered by it.
    ///
    /// In a kernel that reads global memory which it writes, [`arrive`](Barrier::arrive) at another block waits until the stores before
    /// it are visible there, each time. A ring of operands needs no such order. If another block reads what this one
    /// stored, something else orders it: [`arrive`](Barrier::arrive), [`cluster::sync`](super::cluster::sync()), or an atomic operation with
    /// [`acq_rel`](super::ViewMut::acq_rel).
    ///
    /// # PTX
    /// `mbarrier.arrive.shared::cluster.b64` without `.release.cluster` (PTX ISA, "mbarrier.arrive"): accesses are ordered for the own block
    /// alone.
    ///
    /// # Errors
    /// K0402 for a barrier of this block; K0422 in a kernel whose threads access other blocks' shared memory.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// Signals all blocks of a cluster of two that products have read a buffer.
    /// fn release(empty: Barrier) {
    ///     for rank in unroll(0..2) {
    ///         empty.of_block(rank).arrive_relaxed();
    ///     }
    /// }
    /// ```
    pub fn arrive_relaxed(self) {
        stub()
    }

    /// The barrier at the same place in the block of rank `rank` of the cluster. A block can arrive at it but not wait
    /// on it; TMA copies of a [pair](super::tcgen05::mma_pair()) can complete on it.
    ///
    /// # PTX
    /// `mapa.shared::cluster.u32` (PTX ISA, "mapa"); an arrival is `mbarrier.arrive.shared::cluster.b64`. In a kernel
    /// that accesses other blocks' shared memory, or reads global memory that it writes, it is `.release.cluster`, and
    /// the wait `.acquire.cluster`, unless the arrival is [relaxed](Barrier::arrive_relaxed).
    ///
    /// # Errors
    /// K0507 for a kernel without clusters, and for a constant rank that no block has, K0206 for a rank that is not an `i32`, K0402 if it is given twice.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// Signals the first block of the cluster that its tile has been read.
    /// fn release(empty: Barrier) {
    ///     empty.of_block(0).arrive();
    /// }
    /// ```
    #[must_use]
    pub fn of_block(self, rank: i32) -> Barrier {
        stub()
    }
}
