//! Copies that run while the block computes.

use super::barrier::Barrier;
use super::pointer::Ptr;
use super::scalar::Scalar;
use super::sealed::Sealed;
use super::shared::Shared;
use super::stub;
use super::tensor::{View, ViewMut};
use super::tensor_memory::Tmem;
use super::tile::Tile;

/// The reductions of asynchronous copies, for a macro that makes a function of each: name, PTX modifier with an example
/// of the type after it, result, element types of TMA copies, and further element types of bulk copies.
macro_rules! reductions {
    ($functions:ident) => {
        $functions! {
            reduce_add "add" ".f32" "the sum" "`u32`, `i32`, `u64`, `f16`, `bf16`, `f32`" ", `f64`";
            reduce_min "min" ".u32" "the smaller" "`u32`, `i32`, `u64`, `i64`, `f16`, `bf16`" "";
            reduce_max "max" ".u32" "the larger" "`u32`, `i32`, `u64`, `i64`, `f16`, `bf16`" "";
            reduce_and "and" ".b32" "bitwise and" "`u32`, `i32`, `u64`" ", `i64`";
            reduce_or "or" ".b32" "bitwise or" "`u32`, `i32`, `u64`" ", `i64`";
            reduce_xor "xor" ".b32" "bitwise exclusive or" "`u32`, `i32`, `u64`" ", `i64`";
        }
    };
}
pub(super) use reductions;

/// The source of a copy: a window of a tensor, a tile of addresses, or shared memory.
#[diagnostic::on_unimplemented(
    message = "a copy of `{T}` cannot read from `{Self}`",
    label = "must be a window of a tensor of `{T}`: `tensor.tile(at, shape)`"
)]
pub trait CopySource<T>: Copy + Sealed {}

/// The destination of a copy: shared memory, a window of a tensor, or tensor memory.
#[diagnostic::on_unimplemented(
    message = "a copy of `{T}` cannot write to `{Self}`",
    label = "must be shared memory for `{T}`"
)]
pub trait CopyDestination<T>: Copy + Sealed {}

impl<T: Scalar> Sealed for View<T> {}
impl<T: Scalar> Sealed for ViewMut<T> {}
impl<T: Scalar> Sealed for Shared<T> {}
impl<T: Scalar> CopySource<T> for View<T> {}
impl<T: Scalar> CopySource<T> for ViewMut<T> {}
impl<T: Scalar> CopySource<T> for Shared<T> {}
impl<T: Scalar> CopySource<T> for Tile<Ptr<T>> {}
impl<T: Scalar> CopyDestination<T> for Shared<T> {}
impl<T: Scalar> CopyDestination<T> for ViewMut<T> {}
impl<T: Scalar> CopyDestination<T> for Tmem<T> {}

/// Starts a copy of a window into shared memory, and does not wait for it.
///
/// Both sides have the same elements in row-major order: the same shape, or one in which neighbouring axes are merged and those of extent 1
/// left out. A window of `[1, 4, 16, 32]` fills shared memory of `[64, 32]`.
///
/// The source may also be a tile of addresses, of which each element is copied. So rows are gathered in any order; addresses of neighbours that
/// are known to be contiguous and aligned are copied together, as [`load`](super::load) reads them. With a mask it is
/// [`copy_async_masked`].
///
/// Elements outside the tensor arrive as zero. The data does not go through registers: it moves in pieces of 16, 8 or 4
/// bytes that are known to be contiguous in both memories. If fewer than 4 bytes are, ordinary loads and stores replace
/// the copy, and each thread waits for its own.
///
/// A thread waits for its part of the copy with [`copy_async_wait_all`], or with [`copy_async_commit`] and
/// [`copy_async_wait`]. Each thread copies a part, so put a [`sync`](super::sync) between the wait and any use of the
/// whole. Do not read or write the destination before.
///
/// From shared to tensor memory it is [`tcgen05::copy`](super::tcgen05::copy); a commit signals its end.
///
/// With a block of a tensor map, `map.at([i, j])`, it is a TMA copy. It completes on the barrier that
/// [`on`](Copying::on) names or, at the start of an iteration of a [`pipeline`](super::pipeline), on a barrier of the
/// loop.
///
/// # Layout
/// Each thread copies runs along the axis of stride 1. Shared memory without a pinned layout keeps 16 bytes of it
/// contiguous.
///
/// # PTX
/// `cp.async.cg.shared.global.L2::128B [%r1], [%rd1], 16` for 16 bytes, `cp.async.ca.shared.global` for 8 and 4; with a
/// fourth operand if a window may reach outside: the bytes to read (0 outside the tensor), the rest being zeros. Fewer
/// than 4 bytes: `ld.global`, `st.shared`. (PTX ISA, "cp.async".)
///
/// # Errors
/// K0404 if it does not copy a window of a tensor or a tile of addresses to shared memory, and for a block of a tensor map without a barrier,
/// K0202 if the elements are not the same in order, K0203 if the element types differ, K0402 for a whole ring, K0417 for a tile that a copy
/// in flight may still write or read.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn fetch(x: Tensor<f16, 2>, i: i32, to: Shared<f16>) -> Tile<f16> {
///     copy_async(x.tile([i, 0], [64, 32]), to);
///     copy_async_wait_all();
///     sync(); // every thread's part has arrived
///     to.load()
/// }
/// ```
pub fn copy_async<T: Scalar>(from: impl CopySource<T>, to: impl CopyDestination<T>) -> Copying {
    stub()
}

/// Starts a copy of the elements at a tile of addresses where `mask` holds; elsewhere `other` arrives, and memory is not accessed.
///
/// Like [`copy_async`] of addresses. The mask has the shape of the addresses, or one that broadcasts to it.
///
/// # Layout
/// The threads copy the elements whose addresses they hold. If inference is free, neighbouring lanes copy neighbouring addresses.
///
/// # PTX
/// `cp.async` as for [`copy_async`]; the bytes to read are 0 where the mask does not hold. If `other` is not zero,
/// `@%p0 cp.async` and `@%p1 st.shared` of `other`. Fewer than 4 bytes that are known to be contiguous: `ld.global`, `st.shared`.
///
/// # Errors
/// K0206 if `at` is not a tile of addresses, `other` not a scalar or `to` not shared memory, K0204 for a mask that is not `bool`, K0203 for
/// other element types, K0202 if the elements are not the same in order, K0402 for a whole ring, K0417 for a tile that a copy in
/// flight may still write or read.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// Rows of a table of 64 columns; those that it does not have are zero.
/// fn fetch(table: Ptr<f16>, rows: Tile<i32>, count: i32, to: Shared<f16>) {
///     let at = table + (rows.expand(1) * 64 + arange(0, 64).expand(0));
///     copy_async_masked(at, rows.lt(count).expand(1), f16::ZERO, to);
/// }
/// ```
pub fn copy_async_masked<T: Scalar>(
    at: Tile<Ptr<T>>,
    mask: Tile<bool>,
    other: T,
    to: Shared<T>,
) -> Copying {
    stub()
}

/// A copy that was just started. Its methods are options of the copy, given in the same statement.
#[derive(Clone, Copy, Debug)]
pub struct Copying(());

#[expect(clippy::return_self_not_must_use, reason = "what is said last of a copy is not used")]
impl Copying {
    /// Makes it a TMA copy that completes on `bar`, of a window of any tensor whose last axis is contiguous; `sm_90a`
    /// and later.
    ///
    /// The launch checks that a tensor map can describe the tensor.
    ///
    /// PTX and errors: those of [`tma::load`](super::tma::load), and K0404 for a store.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn fetch(x: Tensor<f16, 2>, full: Barrier, to: Shared<f16>) {
    ///     full.expect(to.bytes());
    ///     copy_async(x.tile([0, 0], [8, 256]), to).on(full);
    /// }
    /// ```
    pub fn on(self, bar: Barrier) -> Copying {
        stub()
    }

    /// The copy takes place only if `condition` holds; for TMA copies, bulk copies and copies to tensor memory. In a loop of
    /// [`pipeline`](super::pipeline) it is an `if` around the copy.
    ///
    /// # PTX
    /// A predicate of the thread that issues the copy.
    ///
    /// # Errors
    /// K0206 for a condition that is not a scalar `bool`, K0404 for a copy in groups, and if it is given twice.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn fetch(x: TensorMap<f16, 2>, i: i32, more: bool, full: Barrier, to: Shared<f16>) {
    ///     tma::load(x, [i, 0], full, to).when(more);
    /// }
    /// ```
    pub fn when(self, condition: bool) -> Copying {
        stub()
    }

    /// The tile goes to the same place in every block of the cluster whose bit is set in `mask`, and its bytes count on
    /// the barrier of each. A mask with other bits stops the kernel, like an [index](super::Shared#rings) out of range.
    ///
    /// # PTX
    /// `.multicast::cluster` (PTX ISA, `cp.async.bulk.tensor`).
    ///
    /// # Errors
    /// K0507 for a kernel without clusters and for a constant mask that does not fit, K0206 for a mask that is no `i32`, K0404 for a store.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// Both blocks of a cluster get the tile.
    /// fn fetch(x: TensorMap<f16, 2>, i: i32, full: Barrier, to: Shared<f16>) {
    ///     tma::load(x, [i, 0], full, to).multicast(0b11);
    /// }
    /// ```
    pub fn multicast(self, mask: i32) -> Copying {
        stub()
    }

    /// The second-level cache evicts the data first: it is not needed again. For all copies between global and shared memory.
    ///
    /// # PTX
    /// `.L2::cache_hint` with the policy of `createpolicy.fractional.L2::evict_first.b64` (PTX ISA, "createpolicy"). `cp.async`, of copies in
    /// groups, has no policy: [`View::evict_first`](super::View::evict_first) says why.
    ///
    /// # Errors
    /// K0404 if it is given twice, and for [`bulk::send`](super::bulk::send).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn write(out: TensorMapMut<f32, 2>, staged: Shared<f32>) {
    ///     tma::store(out, [0, 0], staged).evict_first();
    /// }
    /// ```
    pub fn evict_first(self) -> Copying {
        stub()
    }

    /// The second-level cache evicts the data last: it is needed again. For all copies between global and shared memory.
    ///
    /// PTX and errors: those of [`evict_first`](Copying::evict_first), with `evict_last`.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn fetch(w: TensorMap<f16, 2>, full: Barrier, to: Shared<f16>) {
    ///     tma::load(w, [0, 0], full, to).evict_last();
    /// }
    /// ```
    pub fn evict_last(self) -> Copying {
        stub()
    }
}

/// Makes everything that the partition's threads wrote to shared memory visible to TMA copies and `wgmma`: a fence, and
/// a barrier of the partition.
///
/// The compiler inserts one where it is needed and missing.
///
/// # PTX
/// `fence.proxy.async.shared::cta` in every thread, `bar.sync` (PTX ISA, "membar, fence": proxies).
///
/// # Errors
/// K0502 on `sm_80`.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn write(out: TensorMapMut<f16, 2>, staged: Shared<f16>, tile: Tile<f16>) {
///     staged.store(tile);
///     fence_async();
///     tma::store(out, [0, 0], staged);
/// }
/// ```
pub fn fence_async() {
    stub()
}

/// Makes a group of the copies that were started since the last group. The group may be empty.
///
/// [`copy_async_wait`] counts groups; to keep the count regular, commit once in every iteration of a loop, even if the
/// iteration starts no copy.
///
/// # PTX
/// `cp.async.commit_group` (PTX ISA, "`cp.async.commit_group`").
///
/// # Errors
/// K0405 in a loop of [`pipeline`](super::pipeline).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn start(x: Tensor<f16, 2>, k: i32, to: Shared<f16>) {
///     if k < x.dim(1) {
///         copy_async(x.tile([0, k], [64, 32]), to);
///     }
///     copy_async_commit();
/// }
/// ```
pub fn copy_async_commit() {
    stub()
}

/// Waits until at most `pending` of the newest groups are still in flight. `pending` is known at compile time.
///
/// It does not wait for copies that are in no group yet. Other threads' parts are visible after a
/// [`sync`](super::sync).
///
/// # PTX
/// `cp.async.wait_group N` (PTX ISA, "`cp.async.wait_group`").
///
/// # Errors
/// K0106 if `pending` is not known at compile time, K0207 if it is not 0 to 31, K0405 in a loop of
/// [`pipeline`](super::pipeline).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// With three stages, two groups may be in flight while the oldest is used.
/// fn oldest_has_arrived() {
///     copy_async_wait(2);
///     sync();
/// }
/// ```
pub fn copy_async_wait(pending: i32) {
    stub()
}

/// Waits for all copies that were started, in groups or not.
///
/// Other threads' parts are visible after a [`sync`](super::sync).
///
/// # PTX
/// `cp.async.wait_all` (PTX ISA, "`cp.async.wait_all`"); nothing where the copies are ordinary loads and stores.
///
/// # Errors
/// K0405 in a loop of [`pipeline`](super::pipeline).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn everything_has_arrived() {
///     copy_async_wait_all();
///     sync();
/// }
/// ```
pub fn copy_async_wait_all() {
    stub()
}
