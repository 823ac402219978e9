//! Why a copy has no plan, as facts for the compiler's diagnostics.

use std::error::Error;
use std::fmt;

use super::{Number, Start};
use crate::Dim;
use crate::tile::TileError;

/// The step of planning that failed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stage {
    /// The copy is inconsistent.
    Copy,
    /// TMA cannot write the tile.
    SharedLayout,
    /// The pieces of the tile are not contiguous.
    SharedChain,
    /// The start of the window is not known to be a multiple of the required divisor.
    Coordinate,
    /// The extent of the tensor is not known to be a multiple of the required divisor.
    GlobalShape,
    /// The smallest box has no legal map.
    PrefixSearch,
}

impl Stage {
    /// The stage in messages.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Copy => "copy",
            Stage::SharedLayout => "shared-layout",
            Stage::SharedChain => "shared-chain",
            Stage::Coordinate => "coordinate",
            Stage::GlobalShape => "global-shape",
            Stage::PrefixSearch => "prefix-search",
        }
    }
}

/// A rule for tensor maps and the instructions that use them.
///
/// CUDA driver API, `cuTensorMapEncodeTiled`; PTX ISA, "`cp.async.bulk.tensor`". The pitch of rows and the alignment of the
/// innermost coordinate were seen on an H200.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Rule {
    /// A map has 1 to 5 dimensions.
    Rank,
    /// An extent is 1 to 2³².
    GlobalDim,
    /// A stride is below 2⁴⁰ bytes.
    GlobalStrideRange,
    /// A stride, the innermost one aside, is a multiple of 16 bytes.
    GlobalStrideAlignment,
    /// The innermost stride is one element.
    InnerStride,
    /// A box has 1 to 256 elements along each dimension.
    BoxDim,
    /// The innermost extent of a box is a multiple of 16 bytes.
    InnerBoxBytes,
    /// The innermost extent of a box is at most the span of the swizzle.
    SwizzleInnerBox,
    /// The innermost extent of a box of several rows is the span of the swizzle, because rows are that far apart.
    SwizzlePitch,
    /// The innermost coordinate is a multiple of 16 bytes.
    InnerCoordinate,
    /// A box begins at a multiple of 128 bytes of shared memory.
    SharedAlignment,
}

impl Rule {
    /// The rule in messages.
    pub fn name(self) -> &'static str {
        match self {
            Rule::Rank => "rank",
            Rule::GlobalDim => "global_dim",
            Rule::GlobalStrideRange => "global_stride_range",
            Rule::GlobalStrideAlignment => "global_stride_alignment",
            Rule::InnerStride => "inner_stride",
            Rule::BoxDim => "box_dim",
            Rule::InnerBoxBytes => "inner_box_bytes",
            Rule::SwizzleInnerBox => "swizzle_inner_box",
            Rule::SwizzlePitch => "swizzle_pitch",
            Rule::InnerCoordinate => "inner_coordinate",
            Rule::SharedAlignment => "shared_alignment",
        }
    }
}

/// Why a copy has no plan.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Declined {
    /// A list does not have one entry for each axis of the tensor.
    Rank {
        /// The list.
        what: &'static str,
        /// How many entries it has.
        actual: usize,
        /// How many axes there are.
        required: usize,
    },
    /// No map has elements of this size.
    ElementBytes {
        /// Their size.
        actual: u32,
        /// The possible sizes.
        allowed: &'static [u32],
    },
    /// The window and the tile differ in their number of elements.
    Elements {
        /// Those of the tile.
        actual: u64,
        /// Those of the window.
        required: u64,
    },
    /// The tile's layout cannot be split like the window, or has no extents and strides.
    Layout(TileError),
    /// The tile has a dimension that the shared memory of one block lacks.
    Dim {
        /// The dimension.
        actual: Dim,
    },
    /// The tile holds elements several times.
    Replicas {
        /// How often.
        actual: u64,
    },
    /// No swizzle of the hardware makes the tile one of extents and strides.
    Swizzle {
        /// The layout of the tile.
        actual: String,
    },
    /// The pieces of the tile are not contiguous.
    Chain {
        /// The stride that the next piece must have, in elements.
        required: u64,
        /// The stride that it has; none if no piece is left.
        actual: Option<u64>,
    },
    /// The window does not begin where a piece of the tile does.
    Coordinate {
        /// The axis of the tensor.
        axis: usize,
        /// What the start must be a multiple of.
        multiple_of: u64,
        /// What it is.
        actual: Start,
    },
    /// The window begins or ends in the middle of a digit of an axis that has several.
    Window {
        /// The axis of the tensor.
        axis: usize,
    },
    /// The tensor does not end where a piece of the tile does.
    Extent {
        /// The axis of the tensor.
        axis: usize,
        /// What the extent must be a multiple of.
        multiple_of: u64,
        /// What it is.
        actual: Number,
    },
    /// A digit that is not the outermost one of its axis has an extent that only the launch knows.
    OpenDigit {
        /// The axis of the tensor.
        axis: usize,
    },
    /// The map of the smallest box breaks a rule.
    Map {
        /// The rule.
        rule: Rule,
        /// The dimension of the map, innermost first, if the rule is about one.
        dim: Option<usize>,
        /// What is required, in the unit of the rule: a number that it may not exceed, or must be, or must be a multiple of.
        required: u64,
        /// What it is; of a value of the kernel, what it is known to be a multiple of.
        actual: u64,
    },
}

impl Declined {
    /// The step of planning that failed.
    pub fn stage(&self) -> Stage {
        match self {
            Declined::Rank { .. } | Declined::ElementBytes { .. } | Declined::Elements { .. } => {
                Stage::Copy
            }
            Declined::Layout(_)
            | Declined::Dim { .. }
            | Declined::Replicas { .. }
            | Declined::Swizzle { .. } => Stage::SharedLayout,
            Declined::Chain { .. } => Stage::SharedChain,
            Declined::Coordinate { .. } | Declined::Window { .. } => Stage::Coordinate,
            Declined::Extent { .. } | Declined::OpenDigit { .. } => Stage::GlobalShape,
            Declined::Map { .. } => Stage::PrefixSearch,
        }
    }

    /// The rule for maps that is broken, if it is one of those.
    pub fn rule(&self) -> Option<Rule> {
        match self {
            Declined::Map { rule, .. } => Some(*rule),
            Declined::Rank { .. }
            | Declined::ElementBytes { .. }
            | Declined::Elements { .. }
            | Declined::Layout(_)
            | Declined::Dim { .. }
            | Declined::Replicas { .. }
            | Declined::Swizzle { .. }
            | Declined::Chain { .. }
            | Declined::Coordinate { .. }
            | Declined::Window { .. }
            | Declined::Extent { .. }
            | Declined::OpenDigit { .. } => None,
        }
    }
}

impl fmt::Display for Declined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.stage().name())?;
        match self {
            Declined::Rank { what, actual, required } => {
                write!(f, "there are {actual} {what} for {required} axes")
            }
            Declined::ElementBytes { actual, allowed } => {
                write!(f, "an element has {actual} bytes, but must have one of {allowed:?}")
            }
            Declined::Elements { actual, required } => {
                write!(f, "the tile has {actual} elements, but the window has {required}")
            }
            Declined::Layout(error) => error.fmt(f),
            Declined::Dim { actual } => {
                write!(
                    f,
                    "the layout has a dimension {actual}, which the shared memory of one block has not"
                )
            }
            Declined::Replicas { actual } => {
                write!(f, "the tile holds every element {actual} times, but a copy writes it once")
            }
            Declined::Swizzle { actual } => write!(
                f,
                "no swizzle of 0, 32, 64 or 128 bytes makes this layout one of extents and strides: {actual}"
            ),
            Declined::Chain { required, actual: Some(actual) } => write!(
                f,
                "the next piece of the tile must have stride {required}, but has stride {actual}"
            ),
            Declined::Chain { required, actual: None } => {
                write!(f, "no piece of the tile has stride {required}")
            }
            Declined::Coordinate { axis, multiple_of, actual } => write!(
                f,
                "the window must begin at a multiple of {multiple_of} along axis {axis}, but begins at {actual}"
            ),
            Declined::Window { axis } => {
                write!(
                    f,
                    "the window ends within a digit of axis {axis} that it does not begin with"
                )
            }
            Declined::Extent { axis, multiple_of, actual } => write!(
                f,
                "the tensor must have a multiple of {multiple_of} elements along axis {axis}, but has {actual}"
            ),
            Declined::OpenDigit { axis } => write!(
                f,
                "only the outermost of the digits of axis {axis} may have an extent that the launch gives"
            ),
            Declined::Map { rule, dim, required, actual } => {
                write!(f, "{}: ", rule.name())?;
                if let Some(dim) = dim {
                    write!(f, "dimension {dim}: ")?;
                }
                rule.write(f, *required, *actual)
            }
        }
    }
}

impl Rule {
    /// What it requires, and what there is.
    fn write(self, f: &mut fmt::Formatter<'_>, required: u64, actual: u64) -> fmt::Result {
        match self {
            Rule::Rank => {
                write!(f, "at most {required} dimensions are possible, but there are {actual}")
            }
            Rule::GlobalDim => {
                write!(f, "the extent must be 1 to {required}, but is {actual}")
            }
            Rule::GlobalStrideRange => {
                write!(f, "the stride must be below {required} bytes, but is {actual}")
            }
            Rule::GlobalStrideAlignment => {
                write!(f, "the stride must be a multiple of {required} bytes, but is {actual}")
            }
            Rule::InnerStride => {
                write!(f, "the stride must be {required}, but is {actual}")
            }
            Rule::BoxDim => {
                write!(f, "the box must have 1 to {required} elements, but has {actual}")
            }
            Rule::InnerBoxBytes => {
                write!(f, "the box must have a multiple of {required} bytes, but has {actual}")
            }
            Rule::SwizzleInnerBox => {
                write!(f, "the box may have {required} bytes with this swizzle, but has {actual}")
            }
            Rule::SwizzlePitch => {
                write!(
                    f,
                    "rows lie {required} bytes apart with this swizzle, but the box has {actual}"
                )
            }
            Rule::InnerCoordinate => {
                write!(
                    f,
                    "the window must begin at a multiple of {required} bytes, but begins at one of {actual}"
                )
            }
            Rule::SharedAlignment => write!(
                f,
                "a box must begin at a multiple of {required} bytes of shared memory, but begins at {actual}"
            ),
        }
    }
}

impl Error for Declined {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Declined::Layout(error) => Some(error),
            Declined::Rank { .. }
            | Declined::ElementBytes { .. }
            | Declined::Elements { .. }
            | Declined::Dim { .. }
            | Declined::Replicas { .. }
            | Declined::Swizzle { .. }
            | Declined::Chain { .. }
            | Declined::Coordinate { .. }
            | Declined::Window { .. }
            | Declined::Extent { .. }
            | Declined::OpenDigit { .. }
            | Declined::Map { .. } => None,
        }
    }
}
