//! Planning a TMA copy: which tensor map, which box, how many instructions.
//!
//! One instruction copies a *box* of up to five dimensions. A *tensor map* says, for each dimension, its extent, its
//! stride in global memory and the extent of the box; in shared memory the box is dense, the first dimension innermost,
//! and then a swizzle exchanges chunks of 16 bytes. [`plan`] finds the map whose boxes put every element of a window
//! where the layout of the tile in shared memory has it.
//!
//! # The smallest example
//!
//! 8 rows of 256 `f16`, into a tile with the swizzle of 128 bytes. A row of the tile's atoms has 64 elements, so the
//! tile is four columns of atoms: element (r, c) is at 64·r + 512·(c / 64) + c % 64. One box can do that if the map
//! splits the columns as the tile does:
//!
//! | dimension | extent | stride in bytes | box |
//! |---|---|---|---|
//! | columns in a row of an atom | 64 | 2 | 64 |
//! | rows | 8 | 512 | 8 |
//! | columns of atoms | 4 | 128 | 4 |
//!
//! ```
//! use kernel_layout::forms::nvmma_shared;
//! use kernel_layout::tma::{Cut, SharedTile, Size, Start, Step, Tensor, TileCopy, Widening, plan};
//! let plan = plan(&TileCopy {
//!     tensor: Tensor::row_major(&[8, 256], 2),
//!     starts: vec![Start::Known(0); 2],
//!     extents: vec![8, 256],
//!     shared: SharedTile::of_linear(&nvmma_shared(128, 16, false, false, &[8, 256])?, 2)?,
//!     cut: Cut::Fine,
//!     widening: Widening::Allowed,
//! })?;
//! let dims: Vec<_> = plan.dims.iter().map(|dim| (dim.extent, dim.stride, dim.box_elems)).collect();
//! assert_eq!(
//!     dims,
//!     [
//!         (Size::Known(64), Step::Known(1), 64),
//!         (Size::Known(8), Step::Known(256), 8),
//!         (Size::Known(4), Step::Known(64), 4),
//!     ],
//! );
//! assert_eq!(plan.instructions(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The algorithm
//!
//! 1. *Pieces.* The tile is split where its strides change and where the axes of the tensor end: each piece has an
//!    extent, a stride in shared memory, and a place among the digits of one axis.
//! 2. *Chain.* From stride 1 on, each piece begins where the previous one ends. Pieces after a gap are not in the
//!    chain.
//! 3. *Boxes.* The first n pieces of the chain make up the box. An axis is split into dimensions at the pieces of the
//!    box: a piece with u elements of the axis below it becomes a dimension of stride u. That is right only if u
//!    divides the extent of the tensor, since otherwise the last row would read into the next one, and if u divides the
//!    start of the window. Further instructions, *issues*, count the other pieces.
//! 4. *Repair.* Dimensions that step evenly are merged; if only the limit of 256 elements forbids it, two elements are
//!    copied as one wider element.
//! 5. *Rules.* The hardware must have the map: [`Rule`]. The plan takes the largest n whose map is legal.
//!
//! With [`Cut::Fine`] this is done twice, the second time with pieces split that are too long for a box; fewer
//! instructions win. With [`Cut::Whole`] every piece has its own dimension.
//!
//! # Design questions
//!
//! **Why not always one instruction?** An extent that only the launch knows may not be a multiple of 64. The columns of
//! the example are then not split: four instructions copy a box of 8 rows and 64 columns each, and elements beyond the
//! end of a row are filled with zeros, as they should be.
//!
//! **What does the launch check?** The rules about numbers that are not known: strides are multiples of 16 bytes, the
//! innermost stride is 1, extents are neither 0 nor above 2³². The other facts that a plan relies on, the divisors of
//! [`Size::Axis`] and [`ScaledStart`], come from its input ([`Number::Axis`], [`Start::Value`]).
//!
//! **What is not planned?** Interleaved maps, element strides other than 1, gathers and `im2col`.
//!
//! # Reading order
//!
//! [`TileCopy`] is the question, with [`Tensor`] and [`SharedTile`]; [`Plan`] the answer, with [`Size`], [`Step`] and
//! [`Coordinate`]; [`Declined`] why there is none.

mod amount;
mod chain;
mod declined;
mod map;
mod plan;
mod tensor;
mod validate;

pub use amount::{Coordinate, Number, ScaledStart, Size, Start, Step};
pub use declined::{Declined, Rule, Stage};
pub use plan::{Issue, IssueAxis, MapDim, Plan};
pub use tensor::{Digit, SharedTile, Tensor};

use chain::Chain;
use map::Map;

/// A copy of a window of a tensor to or from a tile in shared memory.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TileCopy {
    /// The tensor in global memory.
    pub tensor: Tensor,
    /// Where the window begins along each axis.
    pub starts: Vec<Start>,
    /// The elements of the window along each axis. It may reach outside the tensor.
    pub extents: Vec<u64>,
    /// The tile, which has as many elements as the window.
    pub shared: SharedTile,
    /// What to do with a tile that does not fit one box.
    pub cut: Cut,
    /// Whether elements may be copied as wider ones.
    pub widening: Widening,
}

/// What to do with a tile that does not fit one box.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Cut {
    /// Every piece of the tile becomes a dimension of the map, or the copy is declined. The tile must be dense.
    Whole,
    /// Axes whose extent does not allow it are not split, pieces that are too long are split, gaps are left out:
    /// further instructions copy the rest.
    Fine,
}

/// Whether elements may be copied two, four or eight at a time, as wider ones.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Widening {
    /// Allowed: bytes are only moved.
    Allowed,
    /// Not allowed: the copy adds, or fills with NaN, or changes `f32` to `tf32`.
    Forbidden,
}

/// The map and the instructions of a copy.
///
/// # Errors
/// See [`Declined`].
///
/// # Ensures
/// The instructions move every element of the window to or from its place in the tile, and nothing else
/// (`a_plan_moves_what_the_layouts_say`).
pub fn plan(copy: &TileCopy) -> Result<Plan, Declined> {
    let ways: &[Way] = match copy.cut {
        Cut::Whole => &[Way::Whole],
        Cut::Fine => &[Way::Folded, Way::Shortened],
    };
    let mut best: Option<Plan> = None;
    let mut declined = None;
    for &way in ways {
        match plan_in(copy, way) {
            Ok(plan)
                if best.as_ref().is_none_or(|best| plan.instructions() < best.instructions()) =>
            {
                best = Some(plan);
            }
            Ok(_) => {}
            Err(error) => declined = Some(error),
        }
    }
    match (best, declined) {
        (Some(plan), _) => Ok(plan),
        (None, Some(error)) => Err(error),
        (None, None) => unreachable!("every way gives a plan or says why not"),
    }
}

/// How the pieces of a tile become dimensions of a map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    /// Each is one. There may be no gap between them.
    Whole,
    /// Those outside the box are counted along the next dimension inside it.
    Folded,
    /// The same, and pieces that are too long for a box are cut.
    Shortened,
}

fn plan_in(copy: &TileCopy, way: Way) -> Result<Plan, Declined> {
    let chain = Chain::of(copy, way)?;
    let mut declined = None;
    for selected in (1..=chain.len()).rev() {
        match chain.map(selected, copy).and_then(Map::repaired) {
            Ok(map) => return Ok(Plan::of(map, chain.offset_bytes())),
            // An address that only the further instructions have says less than why there are any.
            Err(error) if declined.is_some() && error.rule() == Some(Rule::SharedAlignment) => {}
            Err(error) => declined = Some(error),
        }
    }
    Err(declined.expect("`Chain::of` gives at least one piece"))
}
