//! Tensor memory: memory in which the tensor cores of data-centre Blackwell accumulate.

use core::marker::PhantomData;
use core::ops::Index;

use super::layout::Layout;
use super::scalar::Scalar;
use super::sealed::Sealed;
use super::stub;
use super::tile::{Shape, Tile};

/// A tile of `T` in the tensor memory of a multiprocessor, or several.
///
/// [`tmem`] makes it; copies of the handle name the same memory. Contents are undefined until they are written.
///
/// Tensor memory has 128 rows of 512 columns, of 32 bits each. A product ([`tcgen05::mma`](super::tcgen05::mma)) adds
/// to it while the block goes on. The product is done when the barrier of a [`tcgen05::commit`](super::tcgen05::commit)
/// after it completes its phase.
///
/// # Several tiles
///
/// `accs[i]`, with an `i32` that may be known only at run time, is one tile of `tmem([2, BM, BN])`; an index out of
/// range stops the kernel, like that of a [ring](super::Shared#rings). Errors: K0206 for an index that is not an `i32`, K0207 for a constant past the end, K0414 for memory of one tile.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn doubled(x: Tile<f32>) -> Tile<f32> {
///     let held = tmem::<f32>([128, 64]);
///     held.store(x);
///     held.load() + x
/// }
/// ```
pub struct Tmem<T>(PhantomData<T>);

handles!(Tmem<T>);

impl<T: Scalar> Sealed for Tmem<T> {}

/// Allocates tensor memory for a tile of `T`. Contents are undefined.
///
/// `shape` is known at compile time: rows and columns, powers of two, and optionally before them the number of tiles, up
/// to 1024.
///
/// Each call is one allocation, which lives as long as the kernel. The compiler allocates the columns of all calls at
/// the start of the kernel, a power of two from 32 to 512, and frees them at its end. Other blocks of the same
/// multiprocessor wait for columns that are not free. Call it outside of loops and branches that are decided at run
/// time.
///
/// # Layout
/// Blocks of 128 rows, or 64, and up to 256 columns, one 32-bit element in each column, as one product instruction
/// writes them. More blocks are in further columns. With 16-bit elements, accumulators have one in each column, and
/// operands two. Scales and metadata of products have layouts of their own: [`tcgen05::mma_scaled`](super::tcgen05::mma_scaled),
/// [`tcgen05::mma_sparse`](super::tcgen05::mma_sparse).
///
/// # PTX
/// `tcgen05.alloc`, `tcgen05.relinquish_alloc_permit`, `tcgen05.dealloc`, once for all allocations (PTX ISA,
/// "tcgen05.alloc").
///
/// # Errors
/// K0502 on targets without tensor memory, K0106, K0201 and K0205 for the shape, K0204 for elements that do not have 8,
/// 16 or 32 bits, K0403 in a loop or branch, K0209 for a variable that is one allocation or another, K0301 and K0414
/// for extents that no product has, unless a layout is pinned, K0302 for a layout that is pinned on scales, and for another one on metadata, K0510 for
/// more than 512 columns.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// Two accumulators: one is read while products add to the other.
/// fn accumulators<const M: i32, const N: i32>() -> Tmem<f32> {
///     tmem::<f32>([2, M, N])
/// }
/// ```
#[must_use]
pub fn tmem<T: Scalar>(shape: impl Shape) -> Tmem<T> {
    stub()
}

impl<T: Scalar> Tmem<T> {
    /// The same memory with its elements in the layout `layout`: [`tmem_block`](super::tmem_block), or extents and
    /// strides ([`layout!`](crate::layout)) along `TLane`, the rows of tensor memory, and `TCol`, its columns, counted
    /// in elements.
    ///
    /// A layout covers all 128 rows, except that blocks of 64 leave every other 16 rows to the next block. A tile with
    /// fewer rows has copies: `R[4 : 32 @ TLane]` gives each of the four warps all 32 rows. [`load`](Tmem::load) reads
    /// in each warp what is in its rows, [`store`](Tmem::store) writes all copies. A tile of four rows may have one in
    /// the first of each warp's 32 rows, without copies: `S[(4, N) : (32 @ TLane, 1 @ TCol)]`; a load then passes it to
    /// the other lanes. There are no copies along `TCol`.
    ///
    /// # PTX
    /// None; it decides which instructions access the memory.
    ///
    /// # Errors
    /// K0301 for a layout that does not fit the tile, has other rows, or is not one of tensor memory, K0414 for a part
    /// of a tile, and for a second layout that differs from the first.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn narrow() -> Tmem<f32> {
    ///     tmem::<f32>([128, 128]).with_layout(tmem_block([128, 32], 1))
    /// }
    ///
    /// /// 32 rows, with a copy for each warp.
    /// fn in_each_warp() -> Tmem<u8> {
    ///     tmem::<u8>([32, 16])
    ///         .with_layout(layout!(S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]))
    /// }
    /// ```
    #[must_use]
    pub fn with_layout(self, layout: Layout) -> Tmem<T> {
        stub()
    }

    /// A part of a tile with the extents `shape`, from row `at[0]` and column `at[1]` on.
    ///
    /// Both are known at compile time; `shape` has powers of two, and `at` multiples of them. It is the same memory as
    /// the tile. Loads, stores and products take a part like a tile; copies take one whose columns are contiguous in
    /// tensor memory.
    ///
    /// # Layout
    /// That of the tile there. A part has whole columns of 32 bits and all rows of tensor memory, or all rows of a
    /// block of 64: a part of a tile of 256 rows may have 128 rows, one of a tile of 128 rows in blocks of 64 may have
    /// 64.
    ///
    /// # PTX
    /// None: an address.
    ///
    /// # Errors
    /// K0106 for values that are not known at compile time, K0205 for another rank, K0207 for a part that ends outside
    /// the tile, K0414 for a start that is not a multiple, for rows that cannot be left out, for parts of columns, and
    /// for several tiles at once.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// Half of the columns at a time, so that a thread needs half of the registers.
    /// fn in_halves(acc: Tmem<f32>) -> Tile<f32> {
    ///     acc.tile([0, 0], [128, 64]).load() + acc.tile([0, 64], [128, 64]).load()
    /// }
    /// ```
    #[must_use]
    pub fn tile(self, at: impl Shape, shape: impl Shape) -> Tmem<T> {
        stub()
    }

    /// The columns of a tile as elements of `U`, possibly in another shape.
    ///
    /// The bits do not change, and the view has no more columns of 32 bits than the tile. Its layout is that of a new
    /// tile, or that of [`with_layout`](Tmem::with_layout); as a left operand of a product, elements are packed into
    /// the columns.
    ///
    /// # PTX
    /// None: the same address.
    ///
    /// # Errors
    /// K0204 for elements that tensor memory does not hold, K0205 if the rank is not 2, K0414 for more columns than the
    /// tile has, for views of parts of its rows or of columns that are not contiguous, and for several tiles at once.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// Rounds the accumulator in place, as the left operand of the next product.
    /// fn rounded(sums: Tmem<f32>) -> Tmem<bf16> {
    ///     let factor = sums.view::<bf16>([128, 64]);
    ///     factor.store(sums.load().cast::<bf16>());
    ///     factor
    /// }
    /// ```
    #[must_use]
    pub fn view<U: Scalar>(self, shape: impl Shape) -> Tmem<U> {
        stub()
    }

    /// Reads a tile into registers, and waits for the data.
    ///
    /// Products and copies that write the tile must be done: wait on the barrier of a commit first.
    ///
    /// # Layout
    /// The warps of a warpgroup have 32 rows each, one in each lane; further warps have further columns. If the tile
    /// only goes to a layout of another instruction shape, it is read with that shape: see
    /// [`tmem_load`](super::tmem_load). Elements of 16 and 8 bits are read in words of two and four, or of one if each
    /// has its own column.
    ///
    /// # PTX
    /// `tcgen05.ld.sync.aligned.32x32b.x64.b32` and the like (`16x32bx2` of 64 rows), then `tcgen05.wait::ld` (PTX ISA, "tcgen05.ld").
    ///
    /// # Errors
    /// K0414 for columns whose words no instruction takes, and for several tiles at once, K0410 while a product may be
    /// in flight, K0503 for a number of warps that is not a multiple of 4, K0504 for more than registers hold.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn sums(acc: Tmem<f32>, done: Barrier) -> Tile<f32> {
    ///     done.wait(0);
    ///     acc.load()
    /// }
    /// ```
    #[must_use]
    pub fn load(self) -> Tile<T> {
        stub()
    }

    /// Writes a tile of the same shape, and waits until it is written.
    ///
    /// # PTX
    /// `tcgen05.st`, like [`load`](Tmem::load), then `tcgen05.wait::st` (PTX ISA, "tcgen05.st").
    ///
    /// # Errors
    /// K0202 if the tile has another shape, K0203 if it has another element type, K0414 for several tiles at once and
    /// for columns whose words no instruction writes, K0410 while a product may be in flight, K0503 for a number of
    /// warps that is not a multiple of 4.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn clear(acc: Tmem<f32>) {
    ///     acc.store(zeros([128, 128]));
    /// }
    /// ```
    pub fn store(self, value: Tile<T>) {
        stub()
    }

    /// An extent.
    ///
    /// # PTX
    /// None.
    ///
    /// # Errors
    /// K0205 for an axis that the tile lacks.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn columns(acc: Tmem<f32>) -> i32 {
    ///     acc.dim(1)
    /// }
    /// ```
    #[must_use]
    pub fn dim(self, axis: i32) -> i32 {
        stub()
    }

    /// The bytes of all elements.
    ///
    /// # PTX
    /// None.
    ///
    /// # Errors
    /// None.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn size(acc: Tmem<f32>) -> i32 {
    ///     acc.bytes()
    /// }
    /// ```
    #[must_use]
    pub fn bytes(self) -> i32 {
        stub()
    }
}

impl<T> Index<i32> for Tmem<T> {
    type Output = Tmem<T>;

    fn index(&self, i: i32) -> &Tmem<T> {
        stub()
    }
}
