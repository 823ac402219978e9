//! Shared memory: memory that the threads of one block share.

use core::marker::PhantomData;
use core::ops::Index;

use super::barrier::Barrier;
use super::layout::Layout;
use super::scalar::Scalar;
use super::stub;
use super::tile::{Shape, Tile};

mod by_index;

pub use by_index::Indices;

/// A dense array of `T` in the block's shared memory, or a part of one.
///
/// [`shared`] makes it; copies of the handle name the same memory. Contents are undefined until
/// they are written.
///
/// # Rings
///
/// `bufs[i]`, with an `i32` that may be known only at run time, is the array without its leading axis: of
/// `shared([STAGES, BM, BK])` a tile of shape `(BM, BK)`. It costs `mul.lo.s32` (or a shift) and `add.s32`, and nothing
/// if `i` is a constant. `i` must be in range: the kernel stops with a `trap` if it is not. The check, `setp.lt.u32`,
/// is left out if the text proves it, like `i & 3`, `block_id(0) % 4`, a counter of `0..4`, and the slot of a
/// [`Ring`](crate::Ring) do. Errors: K0206 for an index that is not an
/// `i32`, K0207 for a constant past the end, K0402 for an array of one axis or a transposed one.
///
/// # Views
///
/// [`reshape`](Self::reshape) gives the same memory other extents, [`tile`](Self::tile) is a part of it, [`view`](Self::view) has its bytes as
/// elements of another type.
///
/// # Elements by index
///
/// [`gather`](Self::gather) reads the elements at a tile of indices, [`scatter`](Self::scatter) writes them, and
/// [`atomic_add`](Self::atomic_add) and the like change them in one step: for tables, histograms, and exchanges between threads. Indices that are
/// outside read zero and write nothing.
///
/// # Order between threads
///
/// Nothing is synchronised by itself. Put a [`sync`](super::sync) between a store and a load of the
/// same memory, and between a load and the store that overwrites it.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn through_shared(x: Tile<f32>) -> Tile<f32> {
///     let staged = shared::<f32>([64, 64]);
///     staged.store(x);
///     sync();
///     staged.t().load()
/// }
/// ```
pub struct Shared<T>(PhantomData<T>);

handles!(Shared<T>);

/// Allocates shared memory for a dense array of `T`. Contents are undefined.
///
/// `shape` is known at compile time. It has one or two extents, powers of two, or up to five; the first of three and more
/// counts the buffers of a ring and may be any number up to 1024. So `shared([STAGES, A, B, C])` is a ring of tiles of rank 3,
/// and `bufs[i][j]` a tile of the last two axes.
///
/// Each call is one allocation. Call it outside of loops and branches that are decided at run time; in
/// [`unroll`](super::unroll) and [`array`](super::array()) every iteration allocates. What is in use at the same time must fit
/// the block's budget on the target, such as 163 KiB on `sm_80` and 99 KiB on workstation cards.
///
/// # Lifetimes
/// An allocation has its bytes to itself from the first statement of the kernel's body that uses it to the last. If all
/// allocations together exceed the budget, two share bytes where a [`sync`](super::sync) in the body, outside of loops and
/// branches, stands between the last use of one and the first use of the other. The compiler finds these, so there is nothing to
/// free, and no use after it is freed. A copy by [`copy_async`](super::copy_async) ends with a wait for all copies. An allocation
/// that TMA copies, bulk copies, tensor cores or other blocks access shares its bytes with no other, and so does every allocation of a kernel
/// with partitions or clusters.
///
/// # Layout
/// One layout for the tiles of the last two axes, chosen by the reads and writes of the memory (see
/// [layouts](super#how-layouts-are-chosen)), or given by [`with_layout`](Shared::with_layout). Each tile of a ring
/// begins at a multiple of 128 bytes, an allocation of tiles of 1024 bytes and more at a multiple of 1024.
///
/// # PTX
/// None: a constant offset from `.extern .shared .align 1024 .b8 smem[]`.
///
/// # Errors
/// K0201 and K0205 for the shape, K0106 for an extent that is not known at compile time, K0403 in a loop or branch,
/// K0501 beyond the budget.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// A ring of three tiles.
/// fn ring<const M: i32, const K: i32>() -> Shared<f16> {
///     shared::<f16>([3, M, K])
/// }
/// ```
#[must_use]
pub fn shared<T: Scalar>(shape: impl Shape) -> Shared<T> {
    stub()
}

impl<T: Scalar> Shared<T> {
    /// The same memory with its elements in the layout `layout`.
    ///
    /// This pins the layout. Without it the compiler chooses one that all uses accept. Call it directly after the
    /// allocation, before any other use. In a ring, each tile of the last two axes has this layout.
    ///
    /// # PTX
    /// None; it decides between `ldmatrix` and `ld.shared`, and how wide accesses are.
    ///
    /// # Errors
    /// K0301 for a layout that does not fit the tile or is one of registers, K0402 if the allocation already has
    /// another one.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn swizzled() -> Shared<f16> {
    ///     shared::<f16>([128, 64]).with_layout(swizzle(128))
    /// }
    /// ```
    #[must_use]
    pub fn with_layout(self, layout: Layout) -> Shared<T> {
        stub()
    }

    /// Reads everything into a tile of the same shape. Of an allocation of three axes or more it reads one buffer, `bufs[i].load()`, or a
    /// view.
    ///
    /// # Layout
    /// The layout that the use of the tile needs: each use reads the memory in its own layout, without a conversion.
    ///
    /// # PTX
    /// `ldmatrix.sync.aligned.m8n8.x4.shared.b16` for matrix fragments if rows of 16 bytes are contiguous (elements of
    /// 1, 2 and 4 bytes; `.trans` for 2 bytes); otherwise `ld.shared`, up to 16 bytes: [accesses](super#accesses).
    ///
    /// # Errors
    /// K0402 for a whole ring, K0504 for more elements than registers hold, K0417 while a copy in flight may still write it.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn product(a: Shared<f16>, b: Shared<f16>, acc: Tile<f32>) -> Tile<f32> {
    ///     dot(a.load(), b.load(), acc)
    /// }
    /// ```
    #[must_use]
    pub fn load(self) -> Tile<T> {
        stub()
    }

    /// Writes a tile of the same shape.
    ///
    /// # Layout
    /// That of the tile, whatever it is. The compiler chooses the layout of memory that is not pinned so that its
    /// accesses have few bank conflicts.
    ///
    /// # PTX
    /// `st.shared`, up to 16 bytes: [accesses](super#accesses). If several threads hold an element, one of them writes
    /// it. From `sm_100a` on, one thread clears an allocation or a buffer of a ring by `st.bulk.weak.shared::cta` if the tile is
    /// [`zeros`](super::zeros) and has more than 16 bytes for each thread (PTX ISA, "st.bulk").
    ///
    /// # Errors
    /// K0202 if the tile has another shape, K0203 if it has another element type, K0206 for a scalar, K0402 for a whole
    /// ring, K0417 while a copy in flight may still write or read it.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn publish(row: Tile<f32>, to: Shared<f32>) {
    ///     to.store(row);
    ///     sync();
    /// }
    /// ```
    pub fn store(self, value: Tile<T>) {
        stub()
    }

    /// The window at the same place in the block of rank `rank` of the cluster, for [`load`](Shared::load),
    /// [`store`](Shared::store), [`gather`](Shared::gather), [`scatter`](Shared::scatter), atomics, [`store_async`](Shared::store_async) and
    /// [`bulk::send`](super::bulk::send).
    ///
    /// A block may read what another block wrote after the blocks have synchronised
    /// ([`cluster::sync`](super::cluster::sync())), or after waiting on one of its [barriers](Barrier::of_block) at
    /// which the writer arrived. `rank` may be this block's own. A rank that no block has stops the kernel, like an index
    /// out of range.
    ///
    /// A block must be running while others access it. If a kernel does not synchronise its cluster before it accesses
    /// another block, and after, the compiler puts a `cluster::sync()` at its start and at its end.
    ///
    /// # PTX
    /// `mapa.shared::cluster.u32` (PTX ISA, "mapa"); a load is `ld.shared::cluster`, a store `st.shared::cluster`, an atomic
    /// `atom.shared::cluster`, never `ldmatrix`.
    ///
    /// # Errors
    /// K0502 on a target without clusters, K0507 for a kernel without clusters, and for a constant rank that no block has; K0206 for a rank
    /// that is not an `i32`; K0402 for products, TMA copies and other operations whose memory has to be in the block that runs them.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// The sum of the tiles of the two blocks of a cluster.
    /// fn total(part: Tile<f32>, parts: Shared<f32>) -> Tile<f32> {
    ///     parts.store(part);
    ///     cluster::sync();
    ///     part + parts.of_block(cluster::rank() ^ 1).load()
    /// }
    /// ```
    #[must_use]
    pub fn of_block(self, rank: i32) -> Shared<T> {
        stub()
    }

    /// Writes a tile to a window of another block, and goes on: the other block's barrier at the place of `bar` counts
    /// the bytes.
    ///
    /// The receiving block expects the bytes, and waits: `bar.expect(tile.bytes())`, `bar.wait(phase)`.
    ///
    /// # PTX
    /// `st.async.weak.shared::cluster.mbarrier::complete_tx::bytes`, 4, 8 or 16 bytes at a time (PTX ISA, "st.async").
    ///
    /// # Errors
    /// Those of [`store`](Shared::store), K0204 for elements of less than 32 bits, K0402 for a window of this block, or a barrier of
    /// another one.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// The first block of the cluster gives a tile to the second.
    /// fn give(row: Tile<f32>, to: Shared<f32>, full: Barrier) {
    ///     if cluster::rank() == 0 {
    ///         to.of_block(1).store_async(row, full);
    ///     }
    /// }
    /// ```
    pub fn store_async(self, value: Tile<T>, bar: Barrier) {
        stub()
    }

    /// The transpose: the same memory with its two axes swapped. The array has rank 2. It moves no data.
    ///
    /// # PTX
    /// None; an operand of [`dot`](super::dot) is then read by the other form of `ldmatrix`.
    ///
    /// # Errors
    /// K0205 if the rank is not 2; for a ring write `bufs[i].t()`.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// a · bᵀ, with both operands stored row by row.
    /// fn times_transposed(a: Shared<f16>, b: Shared<f16>, acc: Tile<f32>) -> Tile<f32> {
    ///     dot(a, b.t(), acc)
    /// }
    /// ```
    #[must_use]
    pub fn t(self) -> Shared<T> {
        stub()
    }

    /// The same memory with the extents `shape`, its elements in row-major order. It moves no data.
    ///
    /// `shape` is known at compile time and has as many elements. The first axis of a ring may have any extent; if that
    /// is not a power of two, `shape` begins with it too, and has three axes or more.
    ///
    /// `load`, `store`, `gather`, `scatter`, atomics, `copy_async` in groups and products by warps take views, and bulk copies take those
    /// whose bytes are contiguous. Products of `wgmma` and `tcgen05` take a [`tile`](Shared::tile) or a [`view`](Shared::view) of one
    /// matrix; `tma::load`, `tma::store` and the reductions take such a part if its bytes are contiguous. All other copies take whole
    /// tiles as they were allocated.
    /// A view is the memory of its allocation: a [`sync`](super::sync) orders accesses through one as through the other.
    ///
    /// # Layout
    /// That of the allocation, also if it is pinned: an element of the view is at the address that it has there.
    ///
    /// # PTX
    /// None. Where a swizzle exchanges bits that the view separates, an index into it takes `xor.b32` for `add.s32`.
    ///
    /// # Errors
    /// K0202 for another number of elements, K0201 and K0205 for the shape, K0106 for an extent that is not known at
    /// compile time, K0402 for a ring whose buffers would be divided, for memory of another block, and for the
    /// operations that take no view.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// A group of 16 rows, chosen at run time.
    /// fn group(rows: Shared<f16>, i: i32) -> Tile<f16> {
    ///     rows.reshape([4, 16, 64])[i].load()
    /// }
    /// ```
    #[must_use]
    pub fn reshape(self, shape: impl Shape) -> Shared<T> {
        stub()
    }

    /// The part with the extents `shape` that begins at element `at`. It is the same memory.
    ///
    /// `shape` is known at compile time and has powers of two. `at` has an `i32` for each axis, a multiple of the part's
    /// extent there, which may be known only at run time: the kernel stops with a `trap` if it is not a multiple, or if the
    /// part is not inside the window. The checks are left out if the text proves them. A ring whose buffers are not a
    /// power of two has no parts of fewer buffers; take one, `bufs[i].tile(..)`.
    ///
    /// The operations that take a [`reshape`](Self::reshape) take a part. So do products of `wgmma` and `tcgen05`, if the part is of one
    /// matrix and its elements are not FP4 or FP6; with at least 16 bytes in a row. `tma::load`, `tma::store` and the reductions take it if
    /// its bytes are contiguous: of a swizzled tile whose rows have up to 128 bytes, eight rows or more; of one with wider rows, 128 bytes
    /// of columns of eight rows or more.
    ///
    /// # Layout
    /// That of the allocation, as in [`reshape`](Self::reshape).
    ///
    /// # PTX
    /// None for constants. Otherwise `mul.lo.s32` (or a shift) and `add.s32` for each axis, or `and.b32`, `shl.b32` and `xor.b32` if a
    /// swizzle moves it; `setp.lt.u32` and `trap` for a check.
    ///
    /// # Errors
    /// K0205 if `at` or `shape` does not have an entry for each axis, K0206 for a start that is not an `i32`, K0207 for a
    /// part that ends outside, K0402 for a constant that is not a multiple, for a part of the buffers of a ring, and for
    /// memory of another block, K0201 and K0106 for the shape, K0406 for a start that differs between threads.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// The tiles on the diagonal, one after the other.
    /// fn diagonal(all: Shared<f32>) -> Tile<f32> {
    ///     let mut sum = zeros([16, 16]);
    ///     for i in range(0, 64, 16) {
    ///         sum = sum + all.tile([i, i], [16, 16]).load();
    ///     }
    ///     sum
    /// }
    /// ```
    #[must_use]
    pub fn tile(self, at: impl Shape, shape: impl Shape) -> Shared<T> {
        stub()
    }

    /// The same bytes as elements of `U`. The extent of the last axis changes with the size of the elements: `[64, 64]` of `f16`
    /// is `[64, 32]` of `u32`.
    ///
    /// The bits do not change: an element of `U` is made of consecutive bytes of a row, and its lowest bits are in the first byte.
    /// The operations that take a [`reshape`](Self::reshape) take this view.
    ///
    /// # Layout
    /// That of the allocation. If the elements of `U` are wider, the layout keeps their bytes together; a pinned one has to.
    ///
    /// # PTX
    /// None: accesses of another width.
    ///
    /// # Errors
    /// K0202 if a row is no whole number of elements of `U`, K0204 for `bool`, and for elements wider than 64 bits, K0206 without
    /// `::<U>`, K0402 for rows that are not contiguous, such as those of a transposed window, for a pinned layout that takes
    /// the bytes of an element apart, and for memory of another block.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// The bits of a tile of halves, two in each word.
    /// fn words(halves: Shared<f16>) -> Tile<u32> {
    ///     halves.view::<u32>().load()
    /// }
    /// ```
    #[must_use]
    pub fn view<U: Scalar>(self) -> Shared<U> {
        stub()
    }

    /// The extent of axis `axis`, known at compile time.
    ///
    /// # PTX
    /// None: a constant.
    ///
    /// # Errors
    /// K0205 for an axis that the array lacks.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn stages(ring: Shared<f16>) -> i32 {
    ///     ring.dim(0)
    /// }
    /// ```
    #[must_use]
    pub fn dim(self, axis: i32) -> i32 {
        stub()
    }

    /// The size in bytes, known at compile time: the product of the extents and of `T::BYTES`.
    ///
    /// # PTX
    /// None: a constant.
    ///
    /// # Errors
    /// None of its own.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn bytes_of_pair(a: Shared<f16>, b: Shared<f16>) -> i32 {
    ///     a.bytes() + b.bytes()
    /// }
    /// ```
    #[must_use]
    pub fn bytes(self) -> i32 {
        stub()
    }
}

impl<T> Index<i32> for Shared<T> {
    type Output = Shared<T>;

    /// One element of the leading axis.
    fn index(&self, index: i32) -> &Shared<T> {
        stub()
    }
}
