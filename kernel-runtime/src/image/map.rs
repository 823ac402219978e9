//! Tensor maps of a variant: the descriptions of arguments that a launch makes for TMA.
//!
//! A map is the 128-byte object from which `cp.async.bulk.tensor` reads a tensor's address, extents and strides (PTX
//! ISA, "Tensor-map"; CUDA Driver API, "cuTensorMapEncodeTiled"). The compiler knows which box a copy moves; address,
//! extents and strides come from the argument. So each launch computes the map from both.
//!
//! The map of a row-major `f16` matrix `a`, copied in boxes of 64 columns and 128 rows:
//!
//! | dimension | extent | stride, in elements of `a` | box |
//! |---|---|---|---|
//! | 0, innermost | axis 1 | of axis 1, which has to be 1 | 64 |
//! | 1 | axis 0 | of axis 0 | 128 |

/// A tensor map: an entry parameter of 128 bytes, computed from an argument.
///
/// The launch checks the driver's requirements on a map, and names the argument that breaks one
/// ([`Error::TensorMap`](crate::Error::TensorMap), [`MapRule`](crate::MapRule)). The map of a tensor without elements
/// describes placeholder memory: loads give the fill value, and stores are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapInfo {
    /// Index of the parameter in the signature, which is a tensor; the map begins at its element 0, or before it by
    /// [`MapExtent::Ends`].
    pub param: usize,
    /// The element type of the map: `u8`, `u16`, `u32`, `u64`, `i32`, `i64`, `f16`, `bf16`, `f32`, `f64` or `tf32`. It may be
    /// wider than the tensor's: two elements of `u8` are one of `u16`.
    pub dtype: &'static str,
    /// The dimensions, the innermost first: 1 to 5.
    pub dims: &'static [MapDim],
    /// The places of a filter that its copies go over; `None` if they copy boxes.
    pub places: Option<MapPlaces>,
    /// The width of the swizzle pattern in shared memory, in bytes: 32, 64 or 128; 0 for none.
    pub swizzle_bytes: u32,
    /// The least bytes that a read brings into the second-level cache: 64, 128 or 256; 0 for no promotion.
    pub l2_promotion_bytes: u32,
    /// What elements outside of the extents are read as.
    pub fill: Fill,
    /// The kernel writes the tensor by it: hardware writes whole pieces of 16 bytes, so rows are multiples of those.
    pub written: bool,
}

/// The places of a filter that a copy goes over, one after the other (CUDA Driver API, "cuTensorMapEncodeIm2col").
///
/// Such a map has three to five dimensions: channels, those along which the filter moves, and images. The box is one of channels alone, and the
/// element strides are the steps from one place to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapPlaces {
    /// How many places a copy goes over: 1 to 1024.
    pub count: u32,
    /// Where the filter begins at its first place, from the first element on: for each dimension along which it moves, the innermost first.
    pub lower: &'static [i32],
    /// Where the filter begins at its last place at most, from the last element on.
    pub upper: &'static [i32],
}

/// A dimension of a tensor map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapDim {
    /// The number of elements of the map.
    pub extent: MapExtent,
    /// The distance between neighbours. That of the innermost dimension has to be one element of the map.
    ///
    /// A dimension of one element is never stepped along: its stride breaks no rule.
    pub stride: MapStride,
    /// Elements of the box that one copy moves: 1 to 256.
    pub box_elems: u32,
    /// The element stride of the copy: 1 to 8, and 1 in the innermost dimension.
    pub element_stride: u32,
}

/// The extent of a dimension of a tensor map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapExtent {
    /// The tensor's extent, divided; a remainder is an error of the launch.
    Axis {
        /// The axis of the tensor.
        axis: usize,
        /// The divisor.
        divide: u32,
    },
    /// A number of elements of the map.
    Const(u64),
    /// The elements of a tile along an axis that a slice bounds, those included that are stepped over. A copy begins as far before this
    /// extent as the slice has elements left.
    Tile {
        /// The axis of the tensor.
        axis: usize,
        /// How many.
        elements: u32,
    },
    /// The positions at which a slice can end, one more than the axis has elements: they move a [`MapExtent::Tile`] to its place.
    /// Position 0 is this many elements before the tensor.
    Ends {
        /// The axis of the tensor.
        axis: usize,
        /// How many.
        elements: u32,
    },
}

/// The stride of a dimension of a tensor map, in elements of the tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapStride {
    /// The tensor's stride, multiplied.
    Axis {
        /// The axis of the tensor.
        axis: usize,
        /// The factor.
        times: u32,
    },
    /// A number of elements of the tensor.
    Elements(u64),
}

/// The value that a tensor map reads outside its extents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// Zero.
    Zero,
    /// NaN, for floating-point types.
    Nan,
}
