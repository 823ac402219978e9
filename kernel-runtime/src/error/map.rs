//! The rules of tensor maps, for errors.

use std::fmt;

/// A requirement of a tensor map on its argument, or on the box that the kernel copies (CUDA Driver API,
/// "cuTensorMapEncodeTiled").
///
/// The compiler keeps the rules about the box; the others depend on the argument of the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MapRule {
    /// The address of element 0 is a multiple of a number of bytes.
    Address {
        /// 16 bytes, or 32 if the map pads numbers.
        bytes: u64,
    },
    /// The extent of an axis is a multiple: the map splits the axis, or takes several elements as one.
    Divisible {
        /// The axis of the tensor.
        axis: usize,
        /// The divisor.
        by: u32,
    },
    /// An extent is 1 to 2^32.
    Extent {
        /// The dimension.
        place: MapPlace,
    },
    /// Neighbours in the innermost dimension are adjacent.
    InnerStride {
        /// The dimension.
        place: MapPlace,
        /// The bytes of an element of the map.
        bytes: u64,
    },
    /// The stride of a dimension other than the innermost is a multiple of a number of bytes.
    StrideMultiple {
        /// The dimension.
        place: MapPlace,
        /// 16 bytes, or 32 if the map pads FP4 numbers.
        bytes: u64,
    },
    /// Rows of a tensor whose numbers the map pads are a multiple of 128 numbers.
    PaddedRow {
        /// The dimension.
        place: MapPlace,
        /// The bytes of 128 numbers: 64 of FP4.
        bytes: u64,
    },
    /// A stride is below 2^40 bytes.
    StrideLimit {
        /// The dimension.
        place: MapPlace,
    },
    /// The memory that the map describes lies within the tensor.
    Inside {
        /// Bytes from the first element of the map to the end of the last one.
        bytes: u64,
    },
    /// The filter of the map has at least one place along an axis of the tensor, and a kernel can count them.
    FilterFits {
        /// The axis of the tensor.
        axis: usize,
        /// The least extent.
        least: i64,
        /// The largest one.
        most: i64,
    },
    /// A map with a filter has three to five dimensions, of which the filter moves along all but the first and the last.
    Places,
    /// The parameter is a tensor.
    Tensor,
    /// The tensor has an axis that the map names.
    Axis {
        /// The axis.
        axis: usize,
    },
    /// The number of dimensions is 1 to 5.
    Rank,
    /// The element type is one that maps have.
    Dtype,
    /// The box has 1 to 256 elements.
    Box {
        /// The dimension.
        place: MapPlace,
    },
    /// A row of the box is a multiple of 16 bytes.
    InnerBox,
    /// A row of a tensor that is written by the map is a multiple of 16 bytes: an H200 writes whole pieces of 16 bytes, also where a row ends within one.
    WrittenRow,
    /// A row of the box is no longer than the swizzle pattern.
    SwizzleSpan {
        /// The width of the pattern, in bytes.
        bytes: u32,
    },
    /// The copy takes each of the elements, or up to the eighth.
    ElementStride {
        /// The dimension.
        place: MapPlace,
        /// 8; 1 in the innermost dimension.
        at_most: u32,
    },
    /// The swizzle is one that there is.
    Swizzle,
    /// The promotion is one that there is.
    L2Promotion,
    /// A map that is filled with NaN has a floating-point type.
    Fill,
}

/// Which dimension of a map: as an axis of the tensor, where it is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MapPlace {
    /// An axis of the tensor.
    Axis(usize),
    /// A dimension of the map, 0 for the innermost, whose stride is a constant.
    Dim(usize),
}

impl fmt::Display for MapPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Axis(axis) => write!(f, "axis {axis}"),
            Self::Dim(dim) => write!(f, "dimension {dim} of the map"),
        }
    }
}

impl fmt::Display for MapRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address { bytes } => {
                write!(f, "an address that is a multiple of {bytes} bytes")
            }
            Self::PaddedRow { place, bytes } => {
                write!(
                    f,
                    "a multiple of {bytes} bytes on {place}, of which the map pads 128 numbers together"
                )
            }
            Self::Divisible { axis, by } => {
                write!(f, "an extent that is a multiple of {by} on axis {axis}")
            }
            Self::Extent { place } => write!(f, "1 to 2^32 elements on {place}"),
            Self::InnerStride { place, bytes } => {
                write!(f, "a stride of {bytes} bytes, which is one element, on {place}")
            }
            Self::StrideMultiple { place, bytes } => {
                write!(f, "a stride that is a multiple of {bytes} bytes on {place}")
            }
            Self::StrideLimit { place } => write!(f, "a stride below 2^40 bytes on {place}"),
            Self::Inside { bytes } => {
                write!(f, "{bytes} bytes from its first element to the end of its last one")
            }
            Self::FilterFits { axis, least, most } => {
                write!(
                    f,
                    "{least} to {most} elements on axis {axis}, for its filter to have places there"
                )
            }
            Self::Places => {
                f.write_str("3 to 5 dimensions, and a filter along all but two of them")
            }
            Self::Tensor => f.write_str("a tensor"),
            Self::Axis { axis } => write!(f, "an axis {axis}"),
            Self::Rank => f.write_str("1 to 5 dimensions"),
            Self::Dtype => f.write_str("an element type that tensor maps have"),
            Self::Box { place } => write!(f, "a box of 1 to 256 elements on {place}"),
            Self::InnerBox => f.write_str("a box with rows of a multiple of 16 bytes"),
            Self::WrittenRow => f.write_str(
                "rows of a multiple of 16 bytes in a tensor that is written by tensor map",
            ),
            Self::SwizzleSpan { bytes } => write!(
                f,
                "a box with rows of at most {bytes} bytes, the width of its swizzle pattern"
            ),
            Self::ElementStride { place, at_most: 1 } => {
                write!(f, "copies of each element on {place}")
            }
            Self::ElementStride { place, at_most } => {
                write!(f, "copies of one element in 1 to {at_most} on {place}")
            }
            Self::Swizzle => f.write_str("a swizzle of 0, 32, 64 or 128 bytes"),
            Self::L2Promotion => f.write_str("a promotion of 0, 64, 128 or 256 bytes"),
            Self::Fill => f.write_str("a floating-point type, to be filled with NaN"),
        }
    }
}
