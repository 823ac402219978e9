//! Shared memory: what the threads of one block have in common.

use core::marker::PhantomData;
use core::ops::Index;

use super::barrier::Barrier;
use super::layout::Layout;
use super::scalar::Scalar;
use super::stub;
use super::tile::{Shape, Tile};

/// A dense array of `T` in the block's shared memory, or a part of one.
///
/// [`shared`] makes it; copies of the handle name the same memory. Contents are undefined until
/// they are written.
///
/// # Rings
///
/// `bufs[i]`, with an `i32` known only when the kernel runs if need be, is the array without its
/// leading axis: of `shared([STAGES, BM, BK])` a tile of shape `(BM, BK)`. `i` is in range; the
/// emulator checks it. It costs `mul.lo.s32` (or a shift) and `add.s32`, nothing where `i` is a constant. Errors: K0206 for an
/// index that is no `i32`, K0207 for a constant past the end, K0402 for an array of one axis or a transposed one.
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
/// `shape` is known when compiling. It has one or two extents, powers of two, or three, of which the
/// first counts the buffers of a ring and may be any number up to 1024.
///
/// Each call is one allocation, which lives as long as the kernel. A call stands outside of loops
/// and branches that are decided only when the kernel runs; in [`unroll`](super::unroll) and
/// [`array`](super::array()) every iteration allocates. All allocations together fit the block's budget:
/// 163 KiB on `sm_80`, 227 KiB on `sm_90a` and `sm_100a`.
///
/// # Layout
/// One for the last two axes, chosen by what reads and writes the memory (see [layouts](super#how-layouts-are-chosen)),
/// or [`with_layout`](Shared::with_layout). Each tile of a ring begins at a multiple of 128 bytes, an allocation of
/// tiles of 1024 bytes and more at a multiple of 1024.
///
/// # PTX
/// None: a constant offset from `.extern .shared .align 1024 .b8 smem[]`.
///
/// # Errors
/// K0201 and K0205 for the shape, K0106 for an extent that is not known when compiling, K0403 in a loop or branch,
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
    /// The same memory with its elements arranged as `layout` says.
    ///
    /// This pins the layout. Without it the compiler chooses one that its uses agree on. It follows
    /// the allocation directly, before any other use; of a ring it arranges each tile of the last
    /// two axes.
    ///
    /// # PTX
    /// None; it decides between `ldmatrix` and `ld.shared`, and how wide accesses are.
    ///
    /// # Errors
    /// K0301 for a layout that does not fit the tile or is one of registers, K0402 where the allocation has another one already.
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

    /// Reads everything into a tile of the same shape.
    ///
    /// # Layout
    /// The one that the tile's use wants: the read is done anew in each, and none of it needs a conversion.
    ///
    /// # PTX
    /// `ldmatrix.sync.aligned.m8n8.x4.shared.b16` where each lane's part of a matrix fragment is asked for and rows of
    /// 16 bytes stay together (elements of 1, 2 and 4 bytes; `.trans` of 2); `ld.shared`, up to 16 bytes, elsewhere:
    /// [accesses](super#accesses).
    ///
    /// # Errors
    /// K0402 for a whole ring, K0504 for more elements than registers hold.
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
    /// The tile's, whatever it is. Memory without a pinned layout is arranged so that its accesses meet few bank conflicts.
    ///
    /// # PTX
    /// `st.shared`, up to 16 bytes: [accesses](super#accesses). What several threads hold is written by one of them.
    ///
    /// # Errors
    /// K0202 where the tile has another shape, K0203 where it has another element type, K0206 for a scalar, K0402 for a
    /// whole ring.
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

    /// The window that the block of rank `rank` of the cluster has at the same place: to [`load`](Shared::load) from and to
    /// [`store`](Shared::store) to, to [`store_async`](Shared::store_async) and to [`bulk::send`](super::bulk::send) to.
    ///
    /// What one block writes there, another reads when the blocks have met ([`cluster::sync`](super::cluster::sync())), or when it has
    /// waited at one of its [barriers](Barrier::of_block) at which the writer arrived. `rank` may be this block's own.
    ///
    /// A block has begun, and still runs, while others reach it: where a kernel does not meet its cluster before it reaches another
    /// block, and after it has, the compiler puts a `cluster::sync()` at its start and at its end.
    ///
    /// # PTX
    /// `mapa.shared::cluster.u32` (PTX ISA, "mapa"); a load is `ld.shared::cluster`, a store `st.shared::cluster`, never `ldmatrix`.
    ///
    /// # Errors
    /// K0507 for a kernel without clusters, and for a constant rank that no block has; K0206 for a rank that is no `i32`; K0402 for
    /// products, tensor maps and other operations that have their memory in the block that runs them.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// The sum of what the two blocks of a cluster have.
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

    /// Writes a tile to a window of another block, and goes on: the barrier that the other block has at the place of `bar` counts the
    /// bytes.
    ///
    /// The receiving block expects them, and waits: `bar.expect(tile.bytes())`, `bar.wait(phase)`.
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
    /// /// What the first block of the cluster gives the second.
    /// fn give(row: Tile<f32>, to: Shared<f32>, full: Barrier) {
    ///     if cluster::rank() == 0 {
    ///         to.of_block(1).store_async(row, full);
    ///     }
    /// }
    /// ```
    pub fn store_async(self, value: Tile<T>, bar: Barrier) {
        stub()
    }

    /// The transpose: the same memory with its two axes swapped. The array has rank 2. Moves no
    /// data.
    ///
    /// # PTX
    /// None; a factor of [`dot`](super::dot) is then read by the other form of `ldmatrix`.
    ///
    /// # Errors
    /// K0205 where the rank is not 2, as of a ring: `bufs[i].t()`.
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

    /// The extent of axis `axis`, known when compiling.
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
    pub fn dim(self, axis: usize) -> i32 {
        stub()
    }

    /// The size in bytes, known when compiling: the product of the extents and of `T::BYTES`.
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
