//! Why a layout cannot be built, as facts for the compiler's diagnostics.

use std::error::Error;
use std::fmt;

use crate::Dim;
use crate::tile::TileError;

/// Why a layout cannot be built.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum LayoutError {
    /// A size, or an entry of a constructor's list, is not a power of two.
    NotPowerOfTwo {
        /// The argument, as the constructor names it (`shape`, `per_thread`, ..).
        what: &'static str,
        /// Its place in the list.
        index: usize,
        /// Its value.
        actual: u32,
    },
    /// A list has the wrong number of entries.
    Rank {
        /// The argument, as the constructor names it.
        what: &'static str,
        /// How many entries it has.
        actual: usize,
        /// How many it must have.
        required: usize,
    },
    /// `order` does not name every axis exactly once.
    Order {
        /// The list as given.
        actual: Vec<u32>,
    },
    /// An axis is outside the tensor.
    Axis {
        /// The axis as given.
        actual: u32,
        /// The number of axes.
        rank: usize,
    },
    /// The lanes of a blocked layout do not make up one warp.
    Lanes {
        /// Their product.
        actual: u64,
        /// The number of lanes of a warp.
        required: u32,
    },
    /// An argument is not one of the values that the hardware has.
    NotOneOf {
        /// The argument, as the constructor names it.
        what: &'static str,
        /// Its value.
        actual: u32,
        /// The possible values.
        allowed: &'static [u32],
    },
    /// A dimension occurs twice among the inputs, or among the outputs.
    RepeatedDim {
        /// The dimension.
        dim: Dim,
    },
    /// A basis has the wrong number of coordinates.
    BasisRank {
        /// The input dimension of the basis.
        dim: Dim,
        /// The input bit of the basis.
        bit: usize,
        /// How many coordinates it has.
        actual: usize,
        /// How many output dimensions there are.
        required: usize,
    },
    /// A coordinate of a basis is outside its output dimension.
    BasisOutside {
        /// The input dimension of the basis.
        dim: Dim,
        /// The input bit of the basis.
        bit: usize,
        /// The output dimension.
        out: Dim,
        /// The coordinate.
        actual: u32,
        /// The size of the output dimension.
        size: u32,
    },
    /// The inputs or the outputs together have more bits than the algebra represents.
    TooManyBits {
        /// The sum of the bits.
        actual: usize,
        /// The most there may be.
        limit: usize,
    },
    /// The entries of a list multiply to more than there is of anything.
    TooLarge {
        /// The argument, as the constructor names it.
        what: &'static str,
        /// log2 of the product.
        log2_actual: usize,
        /// log2 of the most it may be.
        log2_limit: usize,
    },
    /// A literal layout has a dimension that such layouts lack.
    ForeignDim {
        /// The dimension.
        dim: Dim,
    },
    /// Some element of the tensor is held nowhere.
    NotSurjective {
        /// The lowest such element, in row-major order.
        missing: Vec<u32>,
    },
    /// The bases of a literal layout are in a different tensor.
    Shape {
        /// The shape the layout was written for.
        actual: Vec<u32>,
        /// The shape of the tensor.
        required: Vec<u32>,
    },
    /// A swizzled tile is smaller than one atom of its swizzle.
    SwizzleAtom {
        /// The rows and the contiguous columns of the tile, in elements.
        actual: [u32; 2],
        /// The rows and the contiguous columns of one atom, in elements.
        required: [u32; 2],
    },
    /// A tensor in tensor memory is smaller than one block.
    BlockSize {
        /// The rows and columns of the tensor.
        actual: [u32; 2],
        /// The rows and columns of the block.
        required: [u32; 2],
    },
    /// A tensor needs more of tensor memory than there is.
    TensorMemoryColumns {
        /// The 32-bit columns that it needs.
        actual: u32,
        /// The 32-bit columns that there are.
        limit: u32,
    },
    /// A layout has other rows than tensor memory.
    TensorMemoryRows {
        /// The rows of the layout, copies among them.
        actual: u32,
        /// The rows of tensor memory.
        required: u32,
    },
    /// A layout has copies along the columns of tensor memory.
    TensorMemoryCopies {
        /// The first 32-bit column that repeats others.
        column: u32,
    },
    /// A load from tensor memory is one for blocks of another kind.
    TensorMemoryAtom {
        /// The shape of the load (PTX ISA, "tcgen05.ld").
        atom: &'static str,
        /// The blocks that it is for.
        required: &'static str,
    },
    /// A load from tensor memory moves more columns than the tensor has.
    TensorMemoryAtomColumns {
        /// The shape of the load (PTX ISA, "tcgen05.ld").
        atom: &'static str,
        /// The 32-bit columns of the tensor.
        actual: u32,
        /// The 32-bit columns of the load.
        required: u32,
    },
    /// The elements of a tensor neither fill 32-bit words nor have one each.
    TensorMemoryWords {
        /// The elements that fill a word.
        elements: u32,
    },
    /// A thread has too little of a tensor for both halves of it.
    TensorMemorySplit {
        /// The elements that a thread has.
        actual: u32,
        /// The fewest with which each half has a word.
        required: u32,
    },
    /// An interval of padding occurs twice.
    RepeatedInterval {
        /// The interval.
        actual: u32,
    },
    /// A tile layout is not linear.
    Tile(TileError),
    /// A form was used where only certain others make sense, as a parent of an operand layout.
    Parent {
        /// The form in the user's spelling.
        actual: String,
        /// The forms that fit.
        required: &'static str,
    },
}

impl LayoutError {
    /// The wrong argument, in the constructor's name, and the entry of its list if one is wrong; none if the layout as
    /// a whole does not fit the tensor.
    pub fn argument(&self) -> Option<(&'static str, Option<usize>)> {
        match self {
            LayoutError::NotPowerOfTwo { what, index, .. } => Some((*what, Some(*index))),
            LayoutError::Rank { what, .. }
            | LayoutError::NotOneOf { what, .. }
            | LayoutError::TooLarge { what, .. } => Some((*what, None)),
            LayoutError::Order { .. } => Some(("order", None)),
            LayoutError::Axis { .. } => Some(("axis", None)),
            LayoutError::Lanes { .. } => Some(("lanes", None)),
            LayoutError::Parent { .. } => Some(("parent", None)),
            LayoutError::RepeatedInterval { .. } => Some(("interval", None)),
            LayoutError::TensorMemoryAtom { .. } | LayoutError::TensorMemoryAtomColumns { .. } => {
                Some(("atom", None))
            }
            LayoutError::BlockSize { .. } => Some(("block", None)),
            LayoutError::BasisRank { dim, bit, .. }
            | LayoutError::BasisOutside { dim, bit, .. } => match dim {
                Dim::Register => Some(("registers", Some(*bit))),
                Dim::Lane => Some(("lanes", Some(*bit))),
                Dim::Warp => Some(("warps", Some(*bit))),
                Dim::Offset => Some(("offsets", Some(*bit))),
                Dim::Block | Dim::Row | Dim::Col | Dim::Axis(_) => None,
            },
            LayoutError::RepeatedDim { .. }
            | LayoutError::TooManyBits { .. }
            | LayoutError::ForeignDim { .. }
            | LayoutError::NotSurjective { .. }
            | LayoutError::Shape { .. }
            | LayoutError::SwizzleAtom { .. }
            | LayoutError::TensorMemoryColumns { .. }
            | LayoutError::TensorMemoryRows { .. }
            | LayoutError::TensorMemoryCopies { .. }
            | LayoutError::TensorMemoryWords { .. }
            | LayoutError::TensorMemorySplit { .. }
            | LayoutError::Tile(_) => None,
        }
    }
}

/// A dimension as a sentence has it.
fn in_words(dim: Dim) -> String {
    match dim {
        Dim::Axis(axis) => format!("axis {axis}"),
        Dim::Register | Dim::Lane | Dim::Warp | Dim::Block | Dim::Offset | Dim::Row | Dim::Col => {
            dim.to_string()
        }
    }
}

fn rows(count: u32) -> String {
    if count == 1 { "1 row".to_owned() } else { format!("{count} rows") }
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LayoutError::NotPowerOfTwo { what, index, actual } => {
                write!(f, "{what}[{index}] must be a power of two, but is {actual}")
            }
            LayoutError::Rank { what, actual, required } => {
                write!(f, "{what} has {actual} entries where {required} are required")
            }
            LayoutError::Order { actual } => {
                write!(f, "order must name every axis exactly once, but is {actual:?}")
            }
            LayoutError::Axis { actual, rank } => {
                write!(f, "axis {actual} does not exist: the tensor has rank {rank}")
            }
            LayoutError::Lanes { actual, required } => {
                write!(f, "the lanes multiply to {actual}, but a warp has {required}")
            }
            LayoutError::NotOneOf { what, actual, allowed } => {
                write!(f, "{what} is {actual}, but must be one of {allowed:?}")
            }
            LayoutError::RepeatedDim { dim } => write!(f, "dimension {dim} occurs twice"),
            LayoutError::BasisRank { dim, bit, actual, required } => {
                write!(
                    f,
                    "basis {bit} of {dim} has {actual} coordinates where {required} are required"
                )
            }
            LayoutError::BasisOutside { dim, bit, out, actual, size } => {
                let along = in_words(*out);
                write!(
                    f,
                    "basis {bit} of {dim} has coordinate {actual} along {along}, whose size is {size}"
                )
            }
            LayoutError::TooManyBits { actual, limit } => {
                write!(f, "the layout has {actual} bits where at most {limit} are possible")
            }
            LayoutError::TooLarge { what, log2_actual, log2_limit } => {
                write!(
                    f,
                    "{what} multiplies to 2^{log2_actual}, but at most 2^{log2_limit} is possible"
                )
            }
            LayoutError::ForeignDim { dim } => write!(f, "such a layout has no dimension {dim}"),
            LayoutError::NotSurjective { missing } => {
                write!(f, "element {missing:?} is held nowhere")
            }
            LayoutError::Shape { actual, required } => {
                write!(
                    f,
                    "the layout covers shape {actual:?}, but the tensor has shape {required:?}"
                )
            }
            LayoutError::SwizzleAtom { actual: [most, columns], required } => write!(
                f,
                "the tile has {} of {columns} contiguous elements, but one swizzle atom has {} of {}",
                rows(*most),
                rows(required[0]),
                required[1]
            ),
            LayoutError::BlockSize { actual: [most, columns], required } => write!(
                f,
                "the tensor has {} of {columns} columns, but one block has {} of {}",
                rows(*most),
                rows(required[0]),
                required[1]
            ),
            LayoutError::TensorMemoryColumns { actual, limit } => write!(
                f,
                "the tensor needs {actual} columns of 32 bits, but tensor memory has {limit}"
            ),
            LayoutError::TensorMemoryRows { actual, required } => {
                write!(f, "a tile has all {required} rows of tensor memory, not {actual}")
            }
            LayoutError::TensorMemoryCopies { column } => {
                write!(
                    f,
                    "column {column} of 32 bits repeats others, but copies lie in further rows"
                )
            }
            LayoutError::TensorMemoryAtom { atom, required } => {
                write!(f, "a load of shape {atom} requires {required}")
            }
            LayoutError::TensorMemoryAtomColumns { atom, actual, required } => write!(
                f,
                "a load of shape {atom} moves {required} columns of 32 bits, but the tensor has {actual}"
            ),
            LayoutError::TensorMemoryWords { elements } => write!(
                f,
                "a word of tensor memory must hold {elements} elements of the tensor, or one"
            ),
            LayoutError::TensorMemorySplit { actual, required } => write!(
                f,
                "halves of the columns require {required} elements in each thread, but there are {actual}"
            ),
            LayoutError::RepeatedInterval { actual } => write!(f, "interval {actual} occurs twice"),
            LayoutError::Tile(error) => error.fmt(f),
            LayoutError::Parent { actual, required } => {
                write!(f, "`{actual}` cannot be the parent: {required} is required")
            }
        }
    }
}

impl Error for LayoutError {}

impl From<TileError> for LayoutError {
    fn from(error: TileError) -> LayoutError {
        LayoutError::Tile(error)
    }
}
