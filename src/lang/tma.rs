//! TMA copies: copies of tiles between tensors and shared memory by the tensor memory accelerator of Hopper and later.
//!
//! One thread issues a copy, and goes on. A load completes on a [`Barrier`]; [`store_wait`] waits for stores. The
//! innermost axis of the tensor is contiguous; every other stride, and the address, is a multiple of 16 bytes (the
//! launch checks it). Along the innermost axis a copy begins at a multiple of 16 bytes; otherwise it stops the kernel.
//! Elements outside the tensor are read as zero, or as the map [declares](TensorMap), and dropped when written. The
//! hardware writes whole pieces of 16 bytes, so the innermost axis of a tensor that copies write is a multiple of 16
//! bytes too (the launch checks it).
//!
//! In shared memory a tile has the layout [`swizzle`](super::swizzle) with the bytes of its rows, up to 128, unless it
//! is pinned to a narrower one or to [`row_major`](super::row_major). A tile may be one tile of a ring, or the whole
//! ring.
//!
//! A copy of a [slice](TensorMap::slice), `tma::load(x.slice((first..end, ..)), [i, j], full, tile)`, ends where the slice
//! ends, which may be known only at run time.
//!
//! # How many instructions
//!
//! One instruction copies a box. A box has at most five dimensions with 256 elements along each, and along its rows no
//! more bytes than the swizzle. The compiler splits the axes of the tensor so that boxes are as large as possible: 8
//! rows of 256 `f16` in the swizzle of 128 bytes are one box of 64 elements, 8 rows and 4 times 64 columns. This works
//! only if the tensor ends at a multiple of 64 columns and the copy begins at one. Kernels for which it matters have a
//! variant for such tensors, which the launch takes if it can; the other variants copy 64 columns at a time, so that
//! elements outside arrive as zeros. Rows of more than 256 elements are copied as elements two, four or eight times as
//! wide, if their number is known to be a multiple. A copy that would take more than 64 instructions is refused
//! (K0409).
//!
//! A load by a map with a [filter](TensorMap#filters) takes one instruction for as many channels as the swizzle is wide.

use super::barrier::Barrier;
use super::copy::Copying;
use super::scalar::Scalar;
use super::sealed::Sealed;
use super::shared::Shared;
use super::stub;
use super::tensor::{TensorMap, TensorMapMut};
use super::tile::Tile;

/// A tensor map that is read or written.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tensor map of `{T}` of rank {R}",
    label = "must be `TensorMap<{T}, {R}>` or `TensorMapMut<{T}, {R}>`",
    note = "declare the parameter as `#[block(..)] x: TensorMap<{T}, {R}>`"
)]
pub trait Map<T, const R: usize>: Copy + Sealed {}

impl<T: Scalar, const R: usize> Sealed for TensorMap<T, R> {}
impl<T: Scalar, const R: usize> Sealed for TensorMapMut<T, R> {}
impl<T: Scalar, const R: usize> Map<T, R> for TensorMap<T, R> {}
impl<T: Scalar, const R: usize> Map<T, R> for TensorMapMut<T, R> {}

/// Starts a copy of the block at `at` into shared memory; it completes on `bar`.
///
/// If the map has a [filter](TensorMap#filters), `at` is a place of it, a tap along each of its axes, and a channel.
///
/// `to` has the extents of the map's block, except for axes of extent 1. The phase of `bar` expects the bytes of the
/// whole block, see [`Barrier::expect`]. After the wait for that phase every thread sees the tile.
///
/// On Blackwell `bar` may be a barrier of the other block of a [pair](super::tcgen05::mma_pair()):
/// `full.of_block(cluster::rank() & !1)` is the even block's barrier, which counts the bytes of both.
///
/// # PTX
/// `cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes` (PTX ISA,
/// `cp.async.bulk.tensor`), with as many dimensions as the map has, [once or several times](self); with `.cta_group::2`
/// if the barrier may be in the other block. By a map with a filter, `.im2col` stands for `.tile`, and a `div.s32` finds the
/// position of the place along each axis of the filter.
///
/// # Errors
/// K0502 on `sm_80`, K0206 for arguments that are not a map and a barrier, K0205 for another number of coordinates,
/// K0402 for a barrier of another block on targets without tensor memory, K0507 for one without pairs, K0202 if the shapes differ,
/// K0203 if the element types differ, K0409 for a layout that no map has, K0404 for a tile that is not in shared memory
/// or is transposed, K0410 for one that a product in flight may still read, K0417 for one that a copy in flight may
/// still write or read, K0418 and K0422 for one that another part of the kernel or another block may still use,
/// K0421 if the barrier never expects its bytes, K0423 if the kernel can end before it is done, and K0424 before a
/// [`grid_dependency_wait`](super::grid_dependency_wait).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn fetch(x: TensorMap<bf16, 2>, i: i32, j: i32, full: Barrier, to: Shared<bf16>) {
///     full.expect(x.block_bytes());
///     tma::load(x, [i, j], full, to);
/// }
/// ```
pub fn load<T: Scalar, const R: usize>(
    map: impl Map<T, R>,
    at: [i32; R],
    bar: Barrier,
    to: Shared<T>,
) -> Copying {
    stub()
}

/// Starts a copy of a tile in shared memory to the block at `at` of a tensor.
///
/// The copy sees what threads have written to the tile after a [`fence_async`](super::fence_async), which the compiler
/// inserts if it is missing. Do not write the tile again before a [`store_wait`].
///
/// Coordinates must not be negative: a GPU stops at a store or a reduction that begins before the tensor (an H200
/// reports an illegal instruction). Elements after the tensor's end are not stored. Loads may begin before the tensor.
///
/// # PTX
/// `cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group` and `cp.async.bulk.commit_group` (PTX ISA, `cp.async.bulk.tensor`).
///
/// # Errors
/// Those of [`load`], and K0401 for a tensor that is only read.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn write(out: TensorMapMut<f16, 2>, i: i32, j: i32, staged: Shared<f16>, tile: Tile<f16>) {
///     staged.store(tile);
///     fence_async();
///     tma::store(out, [i, j], staged);
///     tma::store_wait(0);
/// }
/// ```
pub fn store<T: Scalar, const R: usize>(
    map: TensorMapMut<T, R>,
    at: [i32; R],
    from: Shared<T>,
) -> Copying {
    stub()
}

macro_rules! functions {
    ($($name:ident $word:literal $of:literal $what:literal $takes:literal $more:literal;)*) => {$(
        #[doc = concat!("Like [`store`], but combines the elements with those of the tensor: ", $what, ", each element atomically.")]
        ///
        #[doc = concat!("Element types: ", $takes, ".")]
        ///
        /// # PTX
        #[doc = concat!("`cp.reduce.async.bulk.tensor.2d.global.shared::cta.", $word, ".tile.bulk_group` (PTX ISA, \"cp.reduce.async.bulk.tensor\").")]
        ///
        /// # Errors
        /// Those of [`store`], and K0204 for other element types.
        ///
        /// ```no_run
        /// use kiln::prelude::*;
        ///
        #[doc = concat!("fn collect(out: TensorMapMut<i32, 2>, part: Shared<i32>) {\n    tma::", stringify!($name), "(out, [0, 0], part);\n}")]
        /// ```
        pub fn $name<T: Scalar, const R: usize>(
            map: TensorMapMut<T, R>,
            at: [i32; R],
            from: Shared<T>,
        ) -> Copying {
            stub()
        }
    )*};
}

super::copy::reductions!(functions);

/// Prefetches the block at `at` into the second-level cache.
///
/// # PTX
/// `cp.async.bulk.prefetch.tensor.2d.L2.global.tile` (PTX ISA, `cp.async.bulk.prefetch.tensor`), `.im2col` by a map with a
/// [filter](TensorMap#filters).
///
/// # Errors
/// Those of [`load`] that are about the map.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn ahead(c: TensorMap<f32, 2>, i: i32) {
///     tma::prefetch(c, [i, 0]);
/// }
/// ```
pub fn prefetch<T: Scalar, const R: usize>(map: impl Map<T, R>, at: [i32; R]) -> Copying {
    stub()
}

/// Starts a copy of arbitrary rows of a tensor into shared memory: row `i` of `to` is row `rows[i]` of the tensor, from
/// column `col` on; it completes on `bar`.
///
/// The tensor has two axes, and the map's block is one row of `Y` columns: `#[block(1, Y)]`, at least 32 bytes wide,
/// with elements of at most 32 bits. `rows` has 8 elements or more, `to` has the extents `[rows, Y]`. The phase of
/// `bar` expects the bytes of all rows, [`block_bytes`](TensorMap::block_bytes) each, even of rows outside the tensor.
///
/// Rows outside the tensor, with negative numbers included, give zeros (or what the map [fills](TensorMap) with); so do
/// columns before and after those of the tensor. `col` is a multiple of 16 bytes: otherwise a GPU stops with an illegal
/// instruction. The compiler checks constants; check other values with [`device_assert`](super::device_assert), for a
/// column of `f32`: `device_assert(col % 4 == 0)`.
///
/// # Layout
/// One instruction moves four rows for a whole warp; their numbers are in four registers of one thread. The layout of
/// `rows` distributes them over all warps, four for each instruction:
/// `slice(0, blocked([1, 4], [32, 1], [1, num_warps()], [1, 0]))`. A load of the row numbers uses that layout. `rows`
/// can be pinned to other layouts whose first two register bases are `[1]` and `[2]` and whose lane bases are all
/// `[0]`; if that leaves warps idle, there is a warning (K0901).
///
/// # PTX
/// `cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes` (PTX ISA,
/// `cp.async.bulk.tensor`), once for four rows and the columns of one span of the swizzle of `to`.
///
/// # Errors
/// K0502 on targets without TMA copies of rows, K0416 for another block or fewer rows, K0205 for other ranks, K0306 for a layout of `rows`
/// that the instructions cannot use, K0202 if the shapes differ, K0203 and K0204 for element types, K0409 for a layout
/// of `to` that no map has and a column that is not a multiple of 16 bytes, K0404 for a tile that is not in shared
/// memory or is transposed, K0206 for a tensor without a map, and for rows, a column or a barrier of the wrong kind,
/// K0402 for a whole ring of tiles or barriers, K0507 for a barrier of a block outside the pair, K0411 if the barrier
/// expects another number of bytes.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn fetch(x: TensorMap<bf16, 2>, rows: Tile<i32>, col: i32, full: Barrier, to: Shared<bf16>) {
///     full.expect(rows.dim(0) * x.block_bytes());
///     tma::gather(x, rows, col, full, to);
/// }
/// ```
pub fn gather<T: Scalar>(
    map: impl Map<T, 2>,
    rows: Tile<i32>,
    col: i32,
    bar: Barrier,
    to: Shared<T>,
) -> Copying {
    stub()
}

/// Starts a copy of the rows of a tile in shared memory to arbitrary rows of a tensor: row `i` of `from` goes to row
/// `rows[i]`, from column `col` on.
///
/// The map, `rows` and `col` are as for [`gather`]; what threads have written is visible as for [`store`]. Rows and
/// columns after the end of the tensor are dropped. Rows and columns must not be negative: a GPU stops with an illegal
/// instruction. Do not write a row twice before a [`store_wait_written`]: either write could be the last. A wait for
/// stores also waits for scatters.
///
/// # Layout
/// That of [`gather`].
///
/// # PTX
/// `cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group` (PTX ISA, `cp.async.bulk.tensor`) and
/// `cp.async.bulk.commit_group`, in a thread of each warp.
///
/// # Errors
/// Those of [`gather`], and K0401 for a tensor that is only read.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn write(out: TensorMapMut<f16, 2>, rows: Tile<i32>, col: i32, staged: Shared<f16>, tile: Tile<f16>) {
///     staged.store(tile);
///     fence_async();
///     tma::scatter(out, rows, col, staged);
///     tma::store_wait(0);
/// }
/// ```
pub fn scatter<T: Scalar>(
    map: TensorMapMut<T, 2>,
    rows: Tile<i32>,
    col: i32,
    from: Shared<T>,
) -> Copying {
    stub()
}

/// Waits until at most `pending` of the partition's newest TMA stores and [bulk](super::bulk::store) stores still read
/// shared memory: every thread of the partition may then overwrite the sources of the others.
///
/// `pending` is known at compile time, 0 to 63. The data may not be in the tensor yet: see [`store_wait_written`].
///
/// # PTX
/// `cp.async.bulk.wait_group.read N` by the thread that stored, and a barrier (PTX ISA, `cp.async.bulk.wait_group`).
///
/// # Errors
/// K0502 on `sm_80`, K0106 and K0207 for the number.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn refill(staged: Shared<f16>, tile: Tile<f16>) {
///     tma::store_wait(0); // the store before this one has read `staged`
///     staged.store(tile);
/// }
/// ```
pub fn store_wait(pending: i32) {
    stub()
}

/// Waits until all but the newest `pending` stores of the partition are in their tensors.
///
/// # PTX
/// `cp.async.bulk.wait_group N` by the thread that stored, and a barrier (PTX ISA, `cp.async.bulk.wait_group`).
///
/// # Errors
/// Those of [`store_wait`].
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn publish(flag: Ptr<i32>) {
///     tma::store_wait_written(0);
///     store(flag, 1);
/// }
/// ```
pub fn store_wait_written(pending: i32) {
    stub()
}
