//! Why an operation on tile layouts has no result.

use std::error::Error;
use std::fmt;

use super::TileAxis;

/// Why an operation on tile layouts has no result.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TileError {
    /// There are not as many strides as extents, or not as many coordinates as sizes.
    Rank {
        /// What is counted.
        what: &'static str,
        /// How many there are.
        actual: usize,
        /// How many there must be.
        required: usize,
    },
    /// A size is zero.
    Zero {
        /// The size.
        what: &'static str,
    },
    /// A product or sum is larger than any memory.
    TooLarge {
        /// The number.
        what: &'static str,
    },
    /// A shape does not divide the layout's extents.
    Group {
        /// The layout.
        layout: String,
        /// Its elements.
        size: u64,
        /// The shape.
        shape: Vec<u64>,
    },
    /// A size of a shape is not a power of two, as linear layouts need them.
    NotPowerOfTwo {
        /// The axis of the tensor.
        axis: usize,
        /// Its size.
        actual: u32,
    },
    /// Two shapes split a layout at boundaries of which neither divides the other.
    Boundaries {
        /// The smaller of the two boundaries, counted in what is before it.
        first: u64,
        /// The other.
        second: u64,
    },
    /// A window is not in the tensor.
    Window {
        /// The axis of the tensor.
        axis: usize,
        /// Where the window ends.
        end: u64,
        /// The size of the tensor along it.
        size: u64,
    },
    /// A window begins or ends inside a digit whose steps do not continue in the next one.
    Uneven {
        /// The axis of the tensor.
        axis: usize,
    },
    /// Elements cannot be packed.
    Pack {
        /// How many go into one.
        count: u64,
        /// The last part of the layout.
        actual: String,
    },
    /// An order does not name every part once.
    Order {
        /// The order.
        actual: Vec<usize>,
    },
    /// The parameters of a swizzle do not fit together.
    Swizzle {
        /// The bits that are changed.
        swizzle_len: u32,
        /// The distance of the bits that change them.
        atom_len: u32,
    },
    /// A tile is not made of whole swizzle atoms.
    Atom {
        /// What is counted: rows, or bytes of a row.
        what: &'static str,
        /// How many there are.
        actual: u64,
        /// What it must be a multiple of.
        required: u64,
        /// The widest swizzle that would fit, in bytes.
        fits: u32,
    },
    /// An argument is not one of the possible values.
    NotOneOf {
        /// The argument.
        what: &'static str,
        /// Its value.
        actual: u64,
        /// The possible values.
        allowed: &'static [u64],
    },
    /// A data path of tensor memory has no such layout.
    DataPath {
        /// Its letter.
        path: &'static str,
        /// Its layouts.
        required: &'static str,
    },
    /// `tcgen05.cp` has no such shape.
    CopyShape {
        /// The shape.
        actual: String,
    },
    /// A shape of `tcgen05.cp` does not allow this multicast, or needs one.
    Multicast {
        /// The shape.
        shape: String,
        /// The multicasts that it takes; nothing when it takes none.
        allowed: Vec<&'static str>,
        /// The multicast.
        actual: Option<String>,
    },
    /// An extent or stride is not a power of two, or the places overlap in their bits, so that adding is not XOR.
    NotLinear {
        /// The axis where they do.
        axis: TileAxis,
        /// What is wrong there.
        reason: &'static str,
    },
    /// An axis has no counterpart among the dimensions of linear layouts.
    NoDimension {
        /// The axis.
        axis: TileAxis,
    },
    /// Some places between the first and the last hold nothing, where a linear layout gives every place an element.
    Hole,
    /// A linear layout is not a tile layout.
    NotTile {
        /// Why.
        reason: &'static str,
    },
}

/// The number of elements of a shape; if it overflows, the largest number.
fn elements(shape: &[u64]) -> u64 {
    shape.iter().fold(1, |all, &size| all.saturating_mul(size))
}

impl fmt::Display for TileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TileError::Rank { what, actual, required } => {
                write!(f, "there are {actual} {what} where {required} are required")
            }
            TileError::Zero { what } => write!(f, "{what} must be at least 1, but is 0"),
            TileError::TooLarge { what } => write!(f, "{what} exceeds 2^30"),
            TileError::Group { layout, size, shape } if elements(shape) != *size => write!(
                f,
                "layout {layout} has {size} elements, but shape {shape:?} has {}",
                elements(shape)
            ),
            TileError::Group { layout, shape, .. } => {
                write!(f, "layout {layout} can not be grouped by shape {shape:?}")
            }
            TileError::NotPowerOfTwo { axis, actual } => {
                write!(f, "{actual} along axis {axis} is no power of two")
            }
            TileError::Boundaries { first, second } => {
                write!(f, "incompatible cumulative boundaries: {first} does not divide {second}")
            }
            TileError::Window { axis, end, size } => write!(
                f,
                "the window ends at {end} along axis {axis}, but the tensor has {size} there"
            ),
            TileError::Uneven { axis } => write!(
                f,
                "the window along axis {axis} cuts the layout where its strides do not go on evenly"
            ),
            TileError::Pack { count, actual } => write!(
                f,
                "packing {count} elements into one requires the last part to have stride 1 and a multiple of \
                 {count}, but it is {actual}"
            ),
            TileError::Order { actual } => {
                write!(f, "an order must name every part exactly once, but is {actual:?}")
            }
            TileError::Swizzle { swizzle_len, atom_len } => write!(
                f,
                "a swizzle changes {swizzle_len} bits by those {atom_len} higher: the distance must be at least \
                 the number, and both at most 16"
            ),
            TileError::Atom { what, actual, required, fits } => {
                write!(
                    f,
                    "{what} must be a multiple of {required}, but there are {actual}; a swizzle of {fits} bytes \
                     fits"
                )
            }
            TileError::NotOneOf { what, actual, allowed } => {
                write!(f, "{what} is {actual}, but must be one of {allowed:?}")
            }
            TileError::DataPath { path, required } => {
                write!(f, "data path {path} requires {required}")
            }
            TileError::CopyShape { actual } => write!(f, "tcgen05.cp has no shape {actual}"),
            TileError::Multicast { shape, allowed, actual } => {
                write!(f, "tcgen05.cp {shape} takes ")?;
                match &allowed[..] {
                    [] => f.write_str("no multicast")?,
                    [one] => write!(f, "{one}")?,
                    several => write!(f, "one of {several:?}")?,
                }
                match actual {
                    None => f.write_str(", but there is no multicast"),
                    Some(actual) => write!(f, ", but there is {actual}"),
                }
            }
            TileError::NotLinear { axis, reason } => write!(f, "not linear along {axis}: {reason}"),
            TileError::NoDimension { axis } => {
                write!(f, "linear layouts have no dimension for {axis}")
            }
            TileError::Hole => {
                f.write_str("not linear: between the first place and the last, some hold nothing")
            }
            TileError::NotTile { reason } => write!(f, "not a tile layout: {reason}"),
        }
    }
}

impl Error for TileError {}
