//! Bulk copies: contiguous bytes, between global memory and the shared memory of this block or of another one, without
//! a tensor map (`sm_90a` and later).
//!
//! One thread issues a copy of a whole window of shared memory, and goes on. A load completes on a [`Barrier`].
//! [`tma::store_wait`](super::tma::store_wait) waits for bulk stores and TMA stores together, in the order in which
//! they were issued. Options of a copy follow it: [`when`](Copying::when), [`multicast`](Copying::multicast),
//! [`evict_first`](Copying::evict_first).
//!
//! A window has a multiple of 16 bytes, and its elements are in the order of its axes: memory that is used here and not
//! pinned has the layout [`row_major`](super::row_major). The address in global memory is a multiple of 16 bytes, and
//! the caller makes sure that all of the bytes are accessible: there is no bounds check. A bad address is a fault at
//! run time, which the emulator reports with the line.

use super::barrier::Barrier;
use super::copy::Copying;
use super::pointer::Ptr;
use super::scalar::Scalar;
use super::shared::Shared;
use super::stub;

/// Starts a copy from global memory, beginning at `from`, that fills the window `to`; it completes on `bar`.
///
/// The phase of `bar` expects `to.bytes()` bytes, see [`Barrier::expect`]. After the wait for that phase every thread sees them.
///
/// # PTX
/// `cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes` (PTX ISA, `cp.async.bulk`).
///
/// # Errors
/// K0502 on `sm_80`, K0203 if the element types differ, K0206 for a tile of addresses, K0406 for an address that may
/// differ from thread to thread, K0402 for a window or a barrier of another block, K0404 for a window that is not in
/// shared memory or is transposed, K0412 for a window whose bytes are in another order, K0410 for one that the tensor
/// cores may still read, K0417 for one that a copy in flight may still write or read, K0418 and K0422 for one that
/// another part of the kernel or another block may still use, K0421 if the barrier never expects its bytes, and K0423
/// if the kernel can end before it is done.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// The row `i` of a matrix with rows of 256 elements.
/// fn fetch(x: Ptr<f32>, i: i32, full: Barrier, to: Shared<f32>) {
///     full.expect(to.bytes());
///     bulk::load(x + i * 256, full, to);
/// }
/// ```
pub fn load<T: Scalar>(from: Ptr<T>, bar: Barrier, to: Shared<T>) -> Copying {
    stub()
}

/// Starts a copy of the window `from` to global memory, beginning at `to`.
///
/// The copy sees what threads have written to the window after a [`fence_async`](super::fence_async), which the
/// compiler inserts if it is missing. Do not write the window again before a
/// [`tma::store_wait`](super::tma::store_wait).
///
/// # PTX
/// `cp.async.bulk.global.shared::cta.bulk_group` and `cp.async.bulk.commit_group` (PTX ISA, `cp.async.bulk`).
///
/// # Errors
/// Those of [`load`], and K0401 for an address in a tensor that is only read.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn write(y: Ptr<f32>, staged: Shared<f32>, row: Tile<f32>) {
///     staged.store(row);
///     bulk::store(y, staged);
///     tma::store_wait(0);
/// }
/// ```
pub fn store<T: Scalar>(to: Ptr<T>, from: Shared<T>) -> Copying {
    stub()
}

macro_rules! functions {
    ($($name:ident $word:literal $of:literal $what:literal $takes:literal $more:literal;)*) => {$(
        #[doc = concat!("Like [`store`], but combines the elements with those at the destination: ", $what, ", each element atomically.")]
        ///
        #[doc = concat!("Element types: ", $takes, $more, ".")]
        ///
        /// # PTX
        #[doc = concat!("`cp.reduce.async.bulk.global.shared::cta.bulk_group.", $word, $of, "` (PTX ISA, \"cp.reduce.async.bulk\").")]
        ///
        /// # Errors
        /// Those of [`store`], and K0204 for other element types.
        ///
        /// ```no_run
        /// use kiln::prelude::*;
        ///
        #[doc = concat!("fn collect(out: Ptr<i32>, part: Shared<i32>) {\n    bulk::", stringify!($name), "(out, part);\n}")]
        /// ```
        pub fn $name<T: Scalar>(to: Ptr<T>, from: Shared<T>) -> Copying {
            stub()
        }
    )*};
}

super::copy::reductions!(functions);

/// Prefetches `bytes` bytes of global memory, beginning at `from`, into the second-level cache; `bytes` is known when
/// compiling.
///
/// # PTX
/// `cp.async.bulk.prefetch.L2.global` (PTX ISA, `cp.async.bulk.prefetch`).
///
/// # Errors
/// K0502 on `sm_80`, K0206 for a tile of addresses, K0106 and K0412 for the bytes.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn ahead(x: Ptr<f32>, i: i32) {
///     bulk::prefetch(x + i * 256, 1024);
/// }
/// ```
pub fn prefetch<T: Scalar>(from: Ptr<T>, bytes: i32) -> Copying {
    stub()
}

/// Starts a copy of the window `from` to a window of another block of the cluster, `tile.of_block(rank)`; it completes
/// on the other block's barrier at the place of `bar`.
///
/// The receiving block expects the bytes, and waits: `bar.expect(tile.bytes())`, `bar.wait(phase)`. Nothing tells the
/// sending block when its window has been read: it may write the window again after the blocks have synchronised
/// ([`cluster::sync`](super::cluster::sync())), or after the other block has arrived at a barrier of this one. Both
/// windows have the same layout.
///
/// # PTX
/// `cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes`, `mapa` (PTX ISA, `cp.async.bulk`).
///
/// # Errors
/// Those of [`load`], K0202 if the extents differ, K0412 if the layouts differ, K0402 for a destination in this block.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// Every block except the first sends its part to the first.
/// fn gather(part: Shared<f32>, full: Barrier, parts: Shared<f32>) {
///     let rank = cluster::rank();
///     bulk::send(part, full, parts[rank].of_block(0)).when(rank != 0);
/// }
/// ```
pub fn send<T: Scalar>(from: Shared<T>, bar: Barrier, to: Shared<T>) -> Copying {
    stub()
}
