//! Tile layouts: from elements of a tensor to named places, by extents and strides.
//!
//! **A tile layout distributes the index of an element over places, as the digits of a number.** A
//! [`Layout`](crate::Layout) maps places to elements; a tile layout maps each element to its places.
//!
//! # The smallest example
//!
//! `S[(4, 2, 2) : (1 @ laneid, 2, 1)]` says: take the row-major index of an element, split it into digits of extents 4, 2
//! and 2 (the last one fastest), and let one step of the first digit be one lane, of the second two places in the
//! thread's own memory, of the third one. For a tensor of 4×4:
//!
//! | element | index | digits | place |
//! |---|---|---|---|
//! | (0, 0) | 0 | 0 0 0 | lane 0, place 0 |
//! | (0, 3) | 3 | 0 1 1 | lane 0, place 2 + 1 = 3 |
//! | (2, 1) | 9 | 2 0 1 | lane 2, place 1 |
//!
//! ```
//! use kernel_layout::tile::{TileAxis, TileLayout};
//! let rows: TileLayout = "S[(4, 2, 2) : (1 @ laneid, 2, 1)]".parse()?;
//! assert_eq!(rows.apply(&[4, 4], &[2, 1])?, [(TileAxis::LaneId, 2), (TileAxis::Memory, 1)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The one rule
//!
//! *An element with digits `c₀ c₁ ..` is, along axis `a`, at `Σ cₖ·sₖ` over the digits that step along `a`.* Digits
//! add; they do not XOR. That is all of `S[..]`. There are also
//!
//! - `R[..]`, replicas: copies of the element, one for each combination of the digits of `R`;
//! - an offset: `+ 5 @ warpid` moves everything five warps up.
//!
//! `S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]` puts 32×16 elements into rows 0 to 31 of tensor memory,
//! and again into rows 32, 64 and 96, so that each of four warps reads them.
//!
//! # What it is for
//!
//! - *Is this layout made of copies of that one?* [`TileLayout::is_tile_inner`], [`TileLayout::is_tile_outer`].
//! - *Which elements does this window have, and where does it begin?* [`TileLayout::slice`].
//! - *How do two shapes of one tensor cut it up?* [`TileLayout::group_many`].
//! - *Which instruction copies it?* [`CopyShape`].
//!
//! # Design questions
//!
//! **Why have both?** Strides can express what bits cannot: an extent of 112, a window at column 3, a row pitch of 72.
//! Bits can express what strides cannot: a swizzle, the offset of the element in register 5 of lane 7. If a layout is
//! both, [`TileLayout::to_linear`] and [`TileLayout::from_linear`] translate; if not, they say why.
//!
//! **Why does the first digit have no limit?** An index past the end continues in the first digit, as an address does.
//! A window whose end is checked elsewhere needs no division there.
//!
//! **When are two equal?** When they are after [`TileLayout::canonicalize`]: `S[(8, 8) : (8, 1)]` is `S[64 : 1]`. For
//! layouts that step along a thread's axes there are two answers, one that keeps the axes' names and one that writes
//! lane and warp as threads of the block: see [`Scopes`].
//!
//! # Reading order
//!
//! [`TileAxis`] names the axes; [`TileLayout`] is the type. `canonical` has the short form, `group` splits digits,
//! `combine` tiling and its recognisers, `slice` windows; [`Swizzle`] and [`ComposeLayout`] are swizzled tiles,
//! [`mma_shared`] those that the tensor core reads; `tensor_memory` has the tiles of tensor memory.

mod axis;
mod canonical;
mod combine;
mod error;
mod group;
mod layout;
mod linear;
mod notation;
mod slice;
mod swizzle;
mod tensor_memory;

#[doc(no_inline)]
pub use crate::notation::NotationError;
pub use axis::{Scope, ScopeError, TileAxis};
pub use canonical::Scopes;
pub use error::TileError;
pub use group::Grouped;
pub use layout::{Iter, TileLayout};
pub use swizzle::{ComposeLayout, Reading, Swizzle, SwizzleMode, mma_shared};
pub use tensor_memory::{
    CopyMismatch, CopyPart, CopyShape, DataPath, ProductForm, ScaleFactors, accumulator_data_path,
    data_path, fragment, operand_a, scale_factors, scale_factors_shared, sparse_metadata,
};
