//! Layouts: which thread, or which address, holds which element.

/// How the elements of a tile lie in registers, or those of an array in shared memory.
///
/// A layout is always known when compiling: a `const`, or a `let` where it mentions a generic
/// parameter (a `const` item may not). The compiler chooses layouts by itself; one is written to
/// pin it, with [`Tile::to_layout`](super::Tile::to_layout) or
/// [`Shared::with_layout`](super::Shared::with_layout).
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
#[derive(Clone, Copy, Debug)]
pub struct Layout(());

/// A register layout in nested blocks: what each thread holds, how the 32 lanes of a warp lie, how
/// the warps lie.
///
/// Each argument has one entry for each axis of the tile. `per_thread`, `lanes` and `warps` are
/// powers of two; the product of `lanes` is 32, that of `warps` the kernel's number of warps.
/// `order` lists the axes from the fastest varying to the slowest, so `[1, 0]` is row-major.
///
/// One block covers `per_thread × lanes × warps` elements on each axis. A larger tile repeats the
/// block, with further registers in each thread; on an axis where the tile is smaller, several
/// threads hold the same element.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// Of a row-major tile each thread holds 8 neighbours, a warp covers 4 rows of 64, and four warps 16 rows.
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

/// The layout of what is left of a `parent` layout without axis `axis`.
///
/// It is the layout of a reduction's result along that axis, and of a tile that
/// [`expand`](super::Tile::expand) brings back to the parent's rank. Threads that differed only in
/// the place on that axis hold the same elements.
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
/// `bytes` is the span within which pieces are exchanged: 32, 64 or 128. Of a byte address the bits
/// from 4 up are combined by exclusive or with the bits from 7 up: one bit for 32, two for 64, three
/// for 128. Where rows are `bytes` long, piece `p` of row `r` is therefore found at `p ^ (r % 8)`
/// for 128, at `p ^ (r / 2 % 4)` for 64 and at `p ^ (r / 4 % 2)` for 32. Rows of another length follow each
/// other without gaps, and the addresses are combined in the same way. It is the arrangement that
/// the tensor memory accelerator and the tensor cores know.
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
