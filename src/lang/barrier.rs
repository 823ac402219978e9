//! Mbarriers: what asynchronous copies complete on, and what partitions wait at for each other.

use core::ops::Index;

use super::stub;

/// An mbarrier in shared memory (`sm_90a` and later): [`barrier`] makes it, or [`barriers`] several.
///
/// It counts arrivals, and the bytes of copies that complete on it. Its phases follow one another: a phase ends when as many
/// partitions have arrived as [`barrier`] was told, and as many bytes have come as were [expected](Barrier::expect). Then the next one
/// begins, with the same count. A phase is known by its parity, 0 for the first, 1 for the second, 0 for the third: who waits
/// keeps count by `phase ^= 1`, and is at most one phase behind. A wait for parity 1 at a new barrier is over at once.
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

/// Several mbarriers: `bars[i]` is one, with an `i32` known only when the kernel runs if need be. For buffers that are filled and
/// read in turns, [`Ring`](crate::Ring) keeps the index and the phase.
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
/// [`Barrier::expect`]. `count` is known when compiling, 1 to 16384. The barrier is ready when the kernel begins.
///
/// # PTX
/// `mbarrier.init.shared::cta.b64`, `fence.mbarrier_init.release.cluster` and a barrier at the start. Every warp of a partition arrives
/// by itself, so the count in the hardware is that times the warps of the largest partition that arrives. (PTX ISA, "mbarrier.init".)
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

/// Makes `number` mbarriers whose phases end after `count` arrivals each; `number` is known when compiling, 1 to 1024.
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
    /// How many there are; known when compiling.
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
    /// Arrives, and has the phase wait for `bytes` bytes of copies as well.
    ///
    /// One arrival of the partition. The bytes are those of all copies that complete on the barrier in this phase, parts of them
    /// that lie outside of a tensor included: `map.block_bytes()`, `tile.bytes()`. Of constants the compiler checks that they are;
    /// [`expect_copies`](Barrier::expect_copies) has it count them.
    ///
    /// # PTX
    /// `mbarrier.arrive.expect_tx.shared::cta.b64` by one thread (PTX ISA, `mbarrier.arrive`).
    ///
    /// # Errors
    /// K0206 for bytes that are no `i32`, K0207 beyond 2^20 - 1, K0411 where the copies have other bytes, K0402 for several barriers.
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

    /// Arrives, and has the phase wait for the bytes of the copies that follow; the compiler counts them.
    ///
    /// One arrival of the partition, as [`expect`](Barrier::expect). What is counted are the copies to shared memory by tensor map or in bulk
    /// that complete on this barrier in the same run of statements, up to the next wait, `expect` or `expect_copies` at it. A copy
    /// in a branch, a loop or a partition inside of that run, under a condition (`.when`), or to several blocks (`.multicast`: every
    /// receiving block waits for all that it is sent) is not counted but refused, and so is a barrier that other blocks of the cluster use:
    /// such phases are announced by `expect`, whose number is always taken as it stands.
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

    /// Arrives once every thread of the partition has come here; nobody waits.
    ///
    /// What the partition has read and written before comes before what follows a wait for this phase.
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
    /// K0206 for a phase that is no `i32`, K0207 for a constant other than 0 and 1, K0402 for a barrier of another block.
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
    /// The instruction may let a thread wait for the end of the phase, up to a time that the hardware sets; a phase that has ended
    /// before is told at once.
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

    /// The barrier that the block of rank `rank` of the cluster has at the same place: to arrive at, not to wait for; for copies by tensor map of a
    /// [pair](super::tcgen05::mma_pair()) to complete on.
    ///
    /// # PTX
    /// `mapa.shared::cluster.u32` (PTX ISA, "mapa"); an arrival is `mbarrier.arrive.shared::cluster.b64`. In a kernel that reaches other
    /// blocks' shared memory, or reads in global memory what it writes there, it is `.release.cluster`, and the wait `.acquire.cluster`.
    ///
    /// # Errors
    /// K0507 for a kernel without clusters, and for a constant rank that no block has, K0402 where it is said twice.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// Tells the first block of the cluster that its tile has been read.
    /// fn release(empty: Barrier) {
    ///     empty.of_block(0).arrive();
    /// }
    /// ```
    #[must_use]
    pub fn of_block(self, rank: i32) -> Barrier {
        stub()
    }
}
