//! Layouts: which thread, or which address, holds which element.

/// Where the elements of a tile are in registers, or those of an array in shared or tensor memory.
///
/// A layout is always known at compile time: a `const`, or a `let` if it uses a generic parameter (a `const` item
/// cannot). The compiler chooses layouts by itself; write one to pin it with
/// [`Tile::to_layout`](super::Tile::to_layout) or [`Shared::with_layout`](super::Shared::with_layout).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// const ROWS: Layout = blocked([1, 8], [8, 4], [4, 1], [1, 0]);
///
/// fn pinned<const W: i32>(x: Tile<f16>) -> Tile<f16> {
///     let columns = blocked([8, 1], [4, 8], [1, W], [0, 1]);
///     x.to_layout(ROWS).to_layout(columns)
/// }
/// ```
///
/// # PTX and errors
///
/// A layout is not an instruction; it decides which instructions [accesses](super#accesses),
/// [conversions](super#conversions) and products take.
///
/// A layout is refused with K0301: where it is written, if its numbers do not make a layout; where it is used, if it
/// does not fit the tile's shape, the 32 lanes or the kernel's warps, or is for another kind of memory. K0206 is for an
/// argument that is not a layout, array or number, K0106 for one that is not known at compile time, K0302 for a layout
/// that a product cannot use.
#[derive(Clone, Copy, Debug)]
pub struct Layout(());

impl Layout {
    /// [`swizzle(128)`](swizzle()) with eight bytes of padding after every eight bytes: the layout in which products of
    /// FP8 by FP4 read pairs of FP4 numbers ([`e2m1x2`](super::e2m1x2)), with a byte of shared memory for each number.
    ///
    /// An allocation that such a product reads has this layout by default. A row has a multiple of 64 elements.
    /// [`tma::load`](super::tma::load) can fill the allocation if its first column is a multiple of 64, the tensor
    /// begins at a multiple of 32 bytes, and its rows are a multiple of 64 bytes long and a multiple of 32 bytes apart.
    /// TMA stores and gathers cannot use this layout.
    ///
    /// PTX and errors: [of layouts](Layout#ptx-and-errors). A layout other than `swizzle(128)`, and elements that are
    /// not FP4 numbers, are refused where they are written; copies that do not pad are K0409.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn operand<const N: i32>() -> Shared<e2m1x2> {
    ///     shared::<e2m1x2>([N, 64]).with_layout(swizzle(128).fp4_padded()) // 128 numbers a row
    /// }
    /// ```
    #[must_use]
    pub const fn fp4_padded(self) -> Layout {
        Layout(())
    }
}

/// A register layout in nested blocks: the elements of each thread, the arrangement of the 32 lanes of a warp, and that
/// of the warps.
///
/// Each argument has one entry for each axis of the tile. `per_thread`, `lanes` and `warps` are
/// powers of two; the product of `lanes` is 32, that of `warps` the kernel's number of warps.
/// `order` lists the axes from the fastest varying to the slowest, so `[1, 0]` is row-major.
///
/// One block covers `per_thread × lanes × warps` elements on each axis. A larger tile repeats the block in further
/// registers of each thread; on an axis where the tile is smaller, several threads hold the same element.
///
/// PTX and errors: [of layouts](Layout#ptx-and-errors). Lanes whose product is not 32 are refused where they are
/// written.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// In a row-major tile each thread holds 8 neighbours, a warp covers 4 rows of 64, and four warps 16 rows.
/// const ROWS: Layout = blocked([1, 8], [4, 8], [4, 1], [1, 0]);
/// ```
pub const fn blocked<const R: usize>(
    per_thread: [i32; R],
    lanes: [i32; R],
    warps: [i32; R],
    order: [i32; R],
) -> Layout {
    Layout(())
}

/// The `parent` layout without axis `axis`.
///
/// It is the layout of a reduction's result along that axis, and of a tile that [`expand`](super::Tile::expand) brings
/// back to the parent's rank. Threads that differ only along that axis hold the same elements.
///
/// Of a `layout!(..)`, whose extents multiply to the elements of the parent, the missing axis has what the others leave; a slice of such a
/// slice is refused.
///
/// PTX and errors: [of layouts](Layout#ptx-and-errors). An axis that the parent lacks is refused where the layout is used.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// One index for each row of a tile in the layout `blocked(..)`.
/// const ROW_INDEX: Layout = slice(1, blocked([1, 8], [4, 8], [4, 1], [1, 0]));
/// ```
pub const fn slice(axis: usize, parent: Layout) -> Layout {
    Layout(())
}

/// A row-major layout in shared memory, whose 16-byte pieces are exchanged so that reads down a
/// column touch different banks.
///
/// `bytes` is the span within which pieces are exchanged: 32, 64 or 128. The bits of a byte address from 4 up are
/// combined by XOR with the bits from 7 up: one bit for 32, two for 64, three for 128. So if rows are `bytes` long,
/// piece `p` of row `r` is at `p ^ (r % 8)` for 128, at `p ^ (r / 2 % 4)` for 64 and at `p ^ (r / 4 % 2)` for 32. Longer
/// rows are cut into spans: the first spans of all rows come first, then the second ones. Shorter rows are refused. TMA and
/// the tensor cores use this layout.
///
/// PTX and errors: [of layouts](Layout#ptx-and-errors). A span other than 32, 64 and 128 (and 0, for none) is refused
/// where it is written.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn operand<const M: i32>() -> Shared<f16> {
///     shared::<f16>([M, 64]).with_layout(swizzle(128)) // rows of 128 bytes
/// }
/// ```
pub const fn swizzle(bytes: i32) -> Layout {
    Layout(())
}

/// A layout in shared memory whose pieces of `vec` elements are exchanged; all numbers can be chosen.
///
/// `order` lists the axes from the fastest to the slowest. Along the fastest axis of row `r`, piece `p` is at
/// `p ^ (r / per_phase % max_phase)`: `per_phase` consecutive rows are exchanged in the same way, and `max_phase`
/// exchanges take turns. All three numbers are powers of two.
///
/// PTX and errors: [of layouts](Layout#ptx-and-errors).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// Rows of 64 `f16`, whose 16-byte pieces are exchanged in eight ways: as `swizzle(128)`.
/// const ROWS: Layout = swizzled(8, 1, 8, [1, 0]);
///
/// fn staged() -> Shared<f16> {
///     shared::<f16>([64, 64]).with_layout(ROWS)
/// }
/// ```
pub const fn swizzled<const R: usize>(
    vec: i32,
    per_phase: i32,
    max_phase: i32,
    order: [i32; R],
) -> Layout {
    Layout(())
}

/// The layout in shared memory in which rows follow one another without gaps.
///
/// PTX and errors: [of layouts](Layout#ptx-and-errors).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn plain() -> Shared<f32> {
///     shared::<f32>([32, 32]).with_layout(row_major())
/// }
/// ```
pub const fn row_major() -> Layout {
    Layout(())
}

/// A layout in tensor memory: adjacent blocks of `block[0]` rows (64 or 128) and `block[1]` columns (a power of two).
///
/// `col_stride` is the distance from one column to the next in elements: 1, or 2 for 16-bit and 4 for 8-bit elements,
/// which then have a 32-bit column each, like `f16` accumulators of products. Blocks follow one another along the rows
/// first, each in further columns. A product has one instruction for each block of its accumulator and each 32 bytes
/// along `k`: 64 or 128 rows, and up to 256 columns.
///
/// PTX and errors: [of layouts](Layout#ptx-and-errors).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn held() -> Tmem<f32> {
///     tmem::<f32>([256, 64]).with_layout(tmem_block([128, 32], 1))
/// }
/// ```
pub const fn tmem_block(block: [i32; 2], col_stride: i32) -> Layout {
    Layout(())
}

/// The layout in registers of a tile that `warps` warps read from tensor memory, where it has the layout `memory`, with
/// instructions of a `shape`: `"32x32b"`, `"16x64b"`, `"16x128b"`, `"16x256b"`, or `"16x32bx2"`.
///
/// If a tile that is read with [`Tmem::load`](super::Tmem::load) only goes to such a layout, it is read in that layout
/// directly, without an exchange between threads. `"32x32b"`, the default, gives each lane a row. `"16x256b"` is the
/// fragment of [`mma`]: each thread holds neighbours in a row, and four lanes share a row. The other two are in
/// between. The layout is for elements as wide as those of the tile that it is given to; before a cast, as wide as
/// those in tensor memory. `"16x32bx2"` is for blocks of 64 rows, where `"32x32b"` means the same.
///
/// PTX and errors: [of layouts](Layout#ptx-and-errors).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// The layout that `stmatrix` takes.
/// fn fragment(acc: Tmem<f32>) -> Tile<f16> {
///     acc.load().to_layout(tmem_load("16x256b", tmem_block([128, 64], 1), 4)).cast::<f16>()
/// }
/// ```
pub const fn tmem_load(shape: &str, memory: Layout, warps: i32) -> Layout {
    Layout(())
}

/// The layout of the result of a product on the tensor cores (`mma.sync`), with `warps` warps along rows and columns.
///
/// One instruction computes 16 rows of 8 columns. Each thread holds two neighbours in a row, and the two in the same
/// columns eight rows below; lanes 0 to 3 share a row. The product of `warps` is the kernel's number of warps (PTX ISA,
/// "Matrix Fragments for mma").
///
/// PTX and errors: [of layouts](Layout#ptx-and-errors).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// Four warps, two down and two across.
/// fn start() -> Tile<f32> {
///     zeros::<f32>([64, 64]).to_layout(mma([2, 2]))
/// }
/// ```
pub const fn mma(warps: [i32; 2]) -> Layout {
    Layout(())
}

/// The layout of an operand of a product whose result has layout `parent`: `index` 0 for the left operand, 1 for the
/// right one.
///
/// `k_width` is how many neighbours along `k` one 32-bit register holds: 2 for elements of 16 bits, 4 for 8 bits, 1 for
/// 32 bits. `parent` is [`mma`], or [`blocked`] for products without tensor cores.
///
/// PTX and errors: [of layouts](Layout#ptx-and-errors). An index other than 0 and 1 is K0301.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// const LEFT: Layout = dot_operand(0, mma([2, 2]), 2);
///
/// fn factor(x: Tile<f16>) -> Tile<f16> {
///     x.to_layout(LEFT)
/// }
/// ```
pub const fn dot_operand(index: usize, parent: Layout, k_width: i32) -> Layout {
    Layout(())
}

/// A register layout given as bases: the element for each bit of the register, lane and warp number.
///
/// The element at a place is the XOR of the bases of its set bits. `shape` has the extents of the tile that the bases
/// are written for; each is a power of two. There is one basis for every bit: five for the 32 lanes, none for one warp,
/// two for four. On larger tiles the layout repeats in further registers.
///
/// PTX and errors: [of layouts](Layout#ptx-and-errors).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// Four neighbours in each thread, lanes along the row and then down: as `blocked([1, 4], [4, 8], [1, 1], [1, 0])`.
/// const ROWS: Layout = linear(
///     [[0, 1], [0, 2]],
///     [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]],
///     [],
///     [4, 32],
/// );
/// ```
pub const fn linear<const R: usize, const N: usize, const W: usize>(
    registers: [[i32; R]; N],
    lanes: [[i32; R]; 5],
    warps: [[i32; R]; W],
    shape: [i32; R],
) -> Layout {
    Layout(())
}

/// A layout in shared memory given as bases: the element for each bit of the offset, which counts elements.
///
/// The element at an offset is the XOR of the bases of its set bits. `shape` has the extents of the tile that the bases
/// are written for; every element is at one offset.
///
/// PTX and errors: [of layouts](Layout#ptx-and-errors).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// Two rows of four; the second has its pairs exchanged.
/// const PAIRS: Layout = shared_linear([[0, 1], [0, 2], [1, 2]], [2, 4]);
/// ```
pub const fn shared_linear<const R: usize, const N: usize>(
    offsets: [[i32; R]; N],
    shape: [i32; R],
) -> Layout {
    Layout(())
}

/// A named axis of [`layout!`](crate::layout!).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(non_camel_case_types, reason = "the axes are written as they are called")]
pub enum TileAxis {
    /// Elements of shared memory, or of a thread's registers. The axis of a stride without a name.
    m,
    /// The thread of a warp.
    laneid,
    /// The warp of a block.
    warpid,
    /// The thread of a block.
    tx,
    /// The row of tensor memory.
    TLane,
    /// The column of tensor memory.
    TCol,
}

/// A part of a tile layout: what [`layout!`](crate::layout!) makes of `S[..]` and `R[..]`.
#[derive(Clone, Copy, Debug)]
pub struct TilePart(());

impl Layout {
    /// The layout for tile-layout notation; [`layout!`](crate::layout!) calls it.
    #[doc(hidden)]
    pub const fn of_parts(parts: &[TilePart]) -> Layout {
        Layout(())
    }
}

impl TilePart {
    /// Extents and strides; [`layout!`](crate::layout!) calls it.
    #[doc(hidden)]
    pub const fn digits(extents: &[i32], strides: &[(i32, TileAxis)]) -> TilePart {
        TilePart(())
    }
}

/// A layout as extents and strides on named axes.
///
/// `S[extents : strides]` says where the elements of a tile are: the extents cover the tile's elements in row-major
/// order, and each has a stride, `amount @ axis`. `+ R[extents : strides]` says where copies of all elements are. A
/// stride without an axis counts elements of memory, `m`; without strides the extents are row-major: `S[8, 256]` is
/// `S[(8, 256) : (256, 1)]`. Parentheses enclose several extents or strides.
///
/// | axis | counts |
/// |---|---|
/// | `m` | offsets in shared memory; a thread's registers if threads are named too |
/// | `laneid` | lanes of a warp |
/// | `warpid` | warps of the block |
/// | `tx` | threads of the block |
/// | `TLane`, `TCol` | rows and columns of tensor memory |
///
/// With a thread axis it is a layout of registers, for [`Tile::to_layout`](crate::lang::Tile::to_layout); with `TLane`
/// and `TCol` one of tensor memory, for [`Tmem::with_layout`](crate::lang::Tmem::with_layout); otherwise one of shared
/// memory, for [`Shared::with_layout`](crate::lang::Shared::with_layout). Extents and strides are powers of two; a
/// computed stride is a constant in parentheses.
///
/// PTX and errors: [of layouts](crate::lang::Layout#ptx-and-errors). K0102 is for an axis that is not in this table.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// Contiguous rows of 16 elements: row-major.
/// const PLAIN: Layout = layout!(S[(32, 16) : (16, 1)]);
/// /// The same.
/// const ROWS: Layout = layout!(S[32, 16]);
/// /// 64 elements, two in each lane.
/// const PAIRS: Layout = layout!(S[(32, 2) : (1 @ laneid, 1)]);
/// /// 32 rows of tensor memory, four times.
/// const SPREAD: Layout = layout!(S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]);
/// ```
#[macro_export]
macro_rules! layout {
    ($name:ident [$($digits:tt)*] $(+ $more:ident [$($further:tt)*])*) => {
        $crate::lang::Layout::of_parts(&[
            $crate::layout!(@part $name $($digits)*),
            $($crate::layout!(@part $more $($further)*)),*
        ])
    };
    (@part $name:ident ($($extent:expr),+ $(,)?)) => {
        $crate::lang::TilePart::digits(&[$($extent),+], &[])
    };
    (@part $name:ident $($extent:tt),+) => {
        $crate::lang::TilePart::digits(&[$($extent),+], &[])
    };
    (@part $name:ident ($($extent:expr),+ $(,)?) : ($($strides:tt)+)) => {
        $crate::lang::TilePart::digits(&[$($extent),+], &$crate::layout!(@strides [] $($strides)+))
    };
    (@part $name:ident ($($extent:expr),+ $(,)?) : $($strides:tt)+) => {
        $crate::lang::TilePart::digits(&[$($extent),+], &$crate::layout!(@strides [] $($strides)+))
    };
    (@part $name:ident $($extent:tt),+ : ($($strides:tt)+)) => {
        $crate::lang::TilePart::digits(&[$($extent),+], &$crate::layout!(@strides [] $($strides)+))
    };
    (@part $name:ident $($extent:tt),+ : $($strides:tt)+) => {
        $crate::lang::TilePart::digits(&[$($extent),+], &$crate::layout!(@strides [] $($strides)+))
    };
    (@strides [$($done:tt)*]) => {
        [$($done)*]
    };
    (@strides [$($done:tt)*] - $stride:tt @ $axis:ident $(, $($rest:tt)*)?) => {
        $crate::layout!(@strides [$($done)* (-$stride, $crate::lang::TileAxis::$axis),] $($($rest)*)?)
    };
    (@strides [$($done:tt)*] - $stride:tt $(, $($rest:tt)*)?) => {
        $crate::layout!(@strides [$($done)* (-$stride, $crate::lang::TileAxis::m),] $($($rest)*)?)
    };
    (@strides [$($done:tt)*] $stride:tt @ $axis:ident $(, $($rest:tt)*)?) => {
        $crate::layout!(@strides [$($done)* ($stride, $crate::lang::TileAxis::$axis),] $($($rest)*)?)
    };
    (@strides [$($done:tt)*] $stride:tt $(, $($rest:tt)*)?) => {
        $crate::layout!(@strides [$($done)* ($stride, $crate::lang::TileAxis::m),] $($($rest)*)?)
    };
}
