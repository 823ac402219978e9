//! Tensor memory: where the tensor cores of Blackwell keep the sums of products (`sm_100a`).

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
/// Tensor memory has 128 rows of 512 columns, of 32 bits each. A product adds to it ([`tcgen05::mma`](super::tcgen05::mma)) while the block goes on,
/// and is done when a barrier says so to which it was committed ([`tcgen05::commit`](super::tcgen05::commit)).
///
/// # Several tiles
///
/// `accs[i]`, with an `i32` known only when the kernel runs if need be, is one tile of `tmem([2, BM, BN])`. Errors: K0206 for an index that
/// is no `i32`, K0207 for a constant past the end, K0414 for memory of one tile.
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
/// `shape` is known when compiling: rows and columns, powers of two, and before them, if need be, the number of tiles, up to 1024.
///
/// Each call is one allocation, which lives as long as the kernel: the compiler allocates the columns of all of them before the kernel
/// begins, as many as a power of two from 32 to 512, and gives them back at its end. Other blocks of the same multiprocessor wait
/// meanwhile for columns that are not free. A call stands outside of loops and branches that are decided only when the kernel runs.
///
/// # Layout
/// Blocks of 128 rows, or 64, and up to 256 columns, one element of 32 bits a column: what one product makes. More blocks lie in further
/// columns. Of 16 bits, sums of products have a column each; what is a factor lies two to a column.
///
/// # PTX
/// `tcgen05.alloc`, `tcgen05.relinquish_alloc_permit`, `tcgen05.dealloc`, once for all (PTX ISA, "tcgen05.alloc").
///
/// # Errors
/// K0502 on other targets than `sm_100a`, K0106, K0201 and K0205 for the shape, K0204 for elements of other than 8, 16 and 32 bits, K0403 in a loop or branch,
/// K0209 for a variable that is one allocation or another, K0301 and K0414 for a tile of which no product has the extents, without a layout that is pinned, K0302 where what holds
/// scales has one, K0510 for more than 512 columns.
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
    /// The same memory with its elements arranged as `layout` says: [`tmem_block`](super::tmem_block), or extents and strides
    /// ([`layout!`](crate::layout)) along `TLane`, the rows of tensor memory, and `TCol`, its columns, counted in elements.
    ///
    /// A layout has a place for all 128 rows, but for blocks of 64, which leave every other 16 rows to the next block; where a tile has fewer rows of its own, copies: `R[4 : 32 @ TLane]` gives each of the four warps all 32
    /// rows. [`load`](Tmem::load) reads in each warp what is in its rows, [`store`](Tmem::store) writes all copies. Of a tile of four
    /// rows, the first of each warp's 32 may hold one alone, without copies: `S[(4, N) : (32 @ TLane, 1 @ TCol)]`; a load then hands it to
    /// the other lanes. A column of 32 bits is there once: no copies along `TCol`.
    ///
    /// # PTX
    /// None; it decides which instructions read, write, copy and multiply.
    ///
    /// # Errors
    /// K0301 for a layout that does not fit the tile, has other rows, or is none of tensor memory, K0414 for a part of a tile, and for a second
    /// layout that differs from the first.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn narrow() -> Tmem<f32> {
    ///     tmem::<f32>([128, 128]).with_layout(tmem_block([128, 32], 1))
    /// }
    ///
    /// /// 32 rows, of which each warp has a copy.
    /// fn in_each_warp() -> Tmem<u8> {
    ///     tmem::<u8>([32, 16])
    ///         .with_layout(layout!(S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]))
    /// }
    /// ```
    #[must_use]
    pub fn with_layout(self, layout: Layout) -> Tmem<T> {
        stub()
    }

    /// A part of a tile: `shape` large, from row `at[0]` and column `at[1]` on.
    ///
    /// Both are known when compiling, `shape` powers of two, `at` multiples of them. It is the same memory: what is written to the part, the
    /// tile has. Loads, stores and products take it as they take a tile; copies take one whose columns lie side by side in tensor memory.
    ///
    /// # Layout
    /// That of the tile there. A part has whole columns of 32 bits, and all rows of tensor memory but for those that blocks of 64 rows leave
    /// to one another: of a tile of 256 rows, 128 may be taken, of one of 128 rows in blocks of 64, 64.
    ///
    /// # PTX
    /// None: an address.
    ///
    /// # Errors
    /// K0106 for what is not known when compiling, K0205 for another rank, K0207 for a part that ends outside, K0414 for a start at no multiple, for rows that cannot be left out, for parts of
    /// columns, and for several tiles at once.
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

    /// The columns of a tile as elements of `U`, in another shape if need be.
    ///
    /// The bits stay as they are, and no more columns of 32 bits are named than the tile has. Its layout is that of a new tile, or what
    /// [`with_layout`](Tmem::with_layout) says; as a left factor of a product, elements fill the columns.
    ///
    /// # PTX
    /// None: the same address.
    ///
    /// # Errors
    /// K0204 for elements that tensor memory does not hold, K0205 for another rank than 2, K0414 for more columns than the tile has, for views of
    /// parts of its rows or of columns that lie apart, and for several tiles at once.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// Sums are rounded where they lie, and are the left factor of the next product.
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

    /// Reads a tile into registers, and waits for it.
    ///
    /// What products and copies do to the tile is done before: the kernel has waited for a barrier to which they were committed.
    ///
    /// # Layout
    /// The warps of a warpgroup have 32 rows each, of which every lane has one; further warps have further columns. A tile that is only
    /// read to be given a layout of another shape of instruction is read by that: see [`tmem_load`](super::tmem_load). Elements of 16
    /// and 8 bits are read by words, two and four at a time, or one where each has its column.
    ///
    /// # PTX
    /// `tcgen05.ld.sync.aligned.32x32b.x64.b32` and the like (`16x32bx2` of 64 rows), then `tcgen05.wait::ld` (PTX ISA, "tcgen05.ld").
    ///
    /// # Errors
    /// K0414 for columns of which no instruction takes what a word holds, and for several tiles at once, K0410 while a product may be under way, K0503 for a number of warps that
    /// is no multiple of 4, K0504 for more than registers hold.
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

    /// Writes a tile of the same shape, and waits until it is there.
    ///
    /// # PTX
    /// `tcgen05.st`, as [`load`](Tmem::load), then `tcgen05.wait::st` (PTX ISA, "tcgen05.st").
    ///
    /// # Errors
    /// K0202 where the tile has another shape, K0203 where it has another element type, K0414 for several tiles at once and for columns of which no instruction
    /// writes what a word holds, K0410 while a product may be under way, K0503 for a number of warps that is no multiple of 4.
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
    /// K0205 for an axis that there is not.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn columns(acc: Tmem<f32>) -> i32 {
    ///     acc.dim(1)
    /// }
    /// ```
    #[must_use]
    pub fn dim(self, axis: usize) -> i32 {
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
