//! Tensor maps: what `cuTensorMapEncodeTiled` and `cuTensorMapEncodeIm2col` make of their arguments, and what the tensor copies read.
//!
//! The driver's 128 bytes are opaque. The emulator has a form of its own, with a magic number in front,
//! so a kernel that gives anything else to a tensor copy gets a fault. A map that a kernel changes
//! (`tensormap.replace`) is checked again by the copy that uses it.

pub(crate) mod encoded;
mod im2col;

pub use im2col::Im2colMap;
pub(crate) use im2col::{Pixels, most_corner};
use thiserror::Error;

/// The most dimensions of a tensor map.
const MAX_RANK: usize = 5;

/// The arguments of `cuTensorMapEncodeTiled`; dimensions innermost first.
///
/// ```
/// use kernel_emulator::TensorMap;
///
/// let map = TensorMap {
///     dtype: 6, // f16
///     address: 0x7000_0000_0000,
///     dims: vec![256, 128],
///     strides_bytes: vec![512],
///     box_dims: vec![64, 64],
///     element_strides: vec![1, 1],
///     interleave: 0,
///     swizzle: 3, // 128 bytes
///     oob_fill: 0,
/// };
/// assert!(map.encode().is_ok());
/// let too_wide = TensorMap { box_dims: vec![128, 64], ..map };
/// assert_eq!(
///     too_wide.encode().unwrap_err().to_string(),
///     "the inner box of a map with 128-byte swizzle has at most 128 bytes, not 256",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMap {
    /// Element type as `CUtensorMapDataType` numbers it: 0 U8, 1 U16, 2 U32, 3 S32, 4 U64, 5 S64, 6 F16,
    /// 7 F32, 8 F64, 9 BF16, and, of Blackwell, 13 nibbles, 14 nibbles and 15 six-bit elements of which each sixteen get
    /// sixteen bytes of shared memory. Refused are 10 F32 with subnormals flushed, 11 TF32, 12 TF32 with subnormals
    /// flushed, whose rounding is not documented.
    pub dtype: u32,
    /// Global address of element 0; a multiple of 16.
    pub address: u64,
    /// The extents of 1 to 5 dimensions, in elements; each 1 to 2^32.
    pub dims: Vec<u64>,
    /// The strides of every dimension but the innermost, in bytes; multiples of 16 below 2^40.
    pub strides_bytes: Vec<u64>,
    /// The extents of the box that a copy moves, in elements of the tensor; each 1 to 256.
    pub box_dims: Vec<u32>,
    /// The box takes every so-manieth element of a dimension; each 1 to 8, the innermost counts as 1.
    pub element_strides: Vec<u32>,
    /// 0 none, 1 16 bytes, 2 32 bytes. Only 0 is modelled.
    pub interleave: u32,
    /// 0 none, 1 32 bytes, 2 64 bytes, 3 128 bytes; 4 to 6, of later devices, are refused.
    pub swizzle: u32,
    /// What elements outside the tensor are loaded as: 0 zero, 1 NaN.
    pub oob_fill: u32,
}

/// Which list of a [`TensorMap`] an error is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorMapField {
    /// [`TensorMap::strides_bytes`]
    Strides,
    /// [`TensorMap::box_dims`]
    BoxDims,
    /// [`TensorMap::element_strides`]
    ElementStrides,
}

impl std::fmt::Display for TensorMapField {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            TensorMapField::Strides => "strides",
            TensorMapField::BoxDims => "extents of the box",
            TensorMapField::ElementStrides => "element strides",
        })
    }
}

/// A rule of `cuTensorMapEncodeTiled` that the arguments break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TensorMapError {
    /// The element type is unknown.
    #[error("the element type of a tensor map is 0 to 15, not {actual}")]
    Dtype {
        /// The number given.
        actual: u32,
    },
    /// The element type changes the values that it copies.
    #[error("element type {actual} of a tensor map, which rounds what it copies, is not modelled")]
    DtypeNotModelled {
        /// The number given.
        actual: u32,
    },
    /// A box of elements that are narrower than a byte.
    #[error(
        "the box of a tensor map of type {dtype} has {required} elements in dimension 0, not {actual}"
    )]
    PackedBox {
        /// The element type.
        dtype: u32,
        /// How many it has.
        required: &'static str,
        /// The extent given.
        actual: u32,
    },
    /// The innermost extent of a tensor whose elements are narrower than a byte.
    #[error(
        "dimension 0 of a tensor map of type {dtype} has a multiple of {required} elements, not {actual}"
    )]
    PackedDim {
        /// The element type.
        dtype: u32,
        /// The extent's divisor.
        required: u64,
        /// The extent given.
        actual: u64,
    },
    /// The swizzle of elements that get more room in shared memory.
    #[error("a tensor map of type {dtype} has swizzle 0 (none) or 3 (128 bytes), not {actual}")]
    PackedSwizzle {
        /// The element type.
        dtype: u32,
        /// The swizzle given.
        actual: u32,
    },
    /// Too few or too many dimensions.
    #[error("a tensor map has 1 to 5 dimensions, not {actual}")]
    Rank {
        /// Dimensions given.
        actual: usize,
    },
    /// A list does not fit the rank.
    #[error("a tensor map of {rank} dimensions has {required} {field}, not {actual}")]
    Length {
        /// The list.
        field: TensorMapField,
        /// Dimensions of the map.
        rank: usize,
        /// Entries that the list needs.
        required: usize,
        /// Entries that it has.
        actual: usize,
    },
    /// The interleave layout is unknown.
    #[error("the interleave layout of a tensor map is 0 to 2, not {actual}")]
    Interleave {
        /// The number given.
        actual: u32,
    },
    /// The swizzle is none that `sm_90` has.
    #[error("the swizzle of a tensor map is 0 to 3 on sm_90, not {actual}")]
    Swizzle {
        /// The number given.
        actual: u32,
    },
    /// The fill is unknown.
    #[error("the out-of-bounds fill of a tensor map is 0 or 1, not {actual}")]
    Fill {
        /// The number given.
        actual: u32,
    },
    /// NaN as an integer.
    #[error("only floating-point elements can be filled with NaN; the element type is {dtype}")]
    FillType {
        /// The element type.
        dtype: u32,
    },
    /// The tensor does not start at a multiple of what the interleave layout asks for.
    #[error("the tensor starts at a multiple of {required} bytes, not at {actual:#x}")]
    Address {
        /// The alignment in bytes.
        required: u64,
        /// The address given.
        actual: u64,
    },
    /// An extent of the tensor.
    #[error("dimension {dim} of a tensor map has 1 to 2^32 elements, not {actual}")]
    Dim {
        /// The dimension, 0 the innermost.
        dim: usize,
        /// The extent given.
        actual: u64,
    },
    /// A stride that is not aligned.
    #[error("the stride of dimension {dim} is a multiple of {required} bytes, not {actual}")]
    StrideAlignment {
        /// The dimension, 0 the innermost.
        dim: usize,
        /// The alignment in bytes.
        required: u64,
        /// The stride given.
        actual: u64,
    },
    /// A stride that is too large.
    #[error("the stride of dimension {dim} is below 2^40 bytes, not {actual}")]
    StrideSize {
        /// The dimension, 0 the innermost.
        dim: usize,
        /// The stride given.
        actual: u64,
    },
    /// An extent of the box.
    #[error("the box of a tensor map has 1 to 256 elements in dimension {dim}, not {actual}")]
    BoxDim {
        /// The dimension, 0 the innermost.
        dim: usize,
        /// The extent given.
        actual: u32,
    },
    /// An element stride.
    #[error("the element stride of dimension {dim} is 1 to 8, not {actual}")]
    ElementStride {
        /// The dimension, 0 the innermost.
        dim: usize,
        /// The stride given.
        actual: u32,
    },
    /// Rows of the box that are not whole 16-byte units.
    #[error("the inner box of a tensor map has a multiple of 16 bytes, not {actual}")]
    InnerBox {
        /// Bytes of the innermost dimension of the box.
        actual: u64,
    },
    /// Rows of the box that the swizzle cannot hold.
    #[error(
        "the inner box of a map with {required}-byte swizzle has at most {required} bytes, not {actual}"
    )]
    SwizzleSpan {
        /// Bytes of the swizzle's span.
        required: u64,
        /// Bytes of the innermost dimension of the box.
        actual: u64,
    },
    /// An interleave layout on too few dimensions.
    #[error("a tensor map with an interleave layout has 3 dimensions or more, not {actual}")]
    InterleaveRank {
        /// Dimensions given.
        actual: usize,
    },
    /// 32-byte interleave with another swizzle.
    #[error("32-byte interleave needs swizzle 1 (32 bytes), not {actual}")]
    InterleaveSwizzle {
        /// The swizzle given.
        actual: u32,
    },
    /// Too few or too many dimensions for im2col.
    #[error("an im2col tensor map has 3 to 5 dimensions, not {actual}")]
    Im2colRank {
        /// Dimensions given.
        actual: usize,
    },
    /// A list of corners does not fit the rank.
    #[error(
        "an im2col tensor map of {rank} dimensions has {required} offsets of each corner, not {actual}"
    )]
    Im2colCorners {
        /// Dimensions of the map.
        rank: usize,
        /// Entries that the list needs.
        required: usize,
        /// Entries that it has.
        actual: usize,
    },
    /// A corner of the bounding box is too far from that of the tensor.
    #[error(
        "a corner of the bounding box of an im2col tensor map is {least} to {most} from that of the tensor, not {actual}"
    )]
    Im2colCorner {
        /// The smallest offset.
        least: i32,
        /// The largest offset.
        most: i32,
        /// The offset given.
        actual: i32,
    },
    /// The bounding box has nothing along a dimension.
    #[error(
        "the bounding box of an im2col tensor map has {actual} elements in dimension {dim}, not one or more"
    )]
    Im2colEmpty {
        /// The dimension, 0 the innermost.
        dim: usize,
        /// The elements that it has.
        actual: i64,
    },
    /// The pixels of a column.
    #[error("an im2col tensor map has 1 to 1024 pixels per column, not {actual}")]
    Im2colPixels {
        /// The number given.
        actual: u32,
    },
    /// Something that the emulator does not do with im2col.
    #[error("{what} of an im2col tensor map is not modelled")]
    Im2colNotModelled {
        /// What it is.
        what: &'static str,
    },
    /// An interleave layout, all of whose other rules hold.
    #[error("interleave layout {actual} is not modelled, only 0 (none)")]
    InterleaveNotModelled {
        /// The layout given.
        actual: u32,
    },
}

impl TensorMap {
    /// The 128 bytes that a kernel's copies read, in the emulator's own form.
    ///
    /// A kernel gets them by value (`.param .align 64 .b8 map[128]`) or in global memory, at a multiple of
    /// 64.
    ///
    /// # Errors
    /// The first rule of `cuTensorMapEncodeTiled` (CUDA driver API, "Tensor Map Object Management") that the
    /// arguments break.
    pub fn encode(&self) -> Result<[u8; 128], TensorMapError> {
        self.check()?;
        Ok(encoded::encode(self))
    }

    /// Bits of an element; `None` for a type that is unknown.
    pub(crate) fn element_bits(&self) -> Option<u32> {
        match self.dtype {
            0 => Some(8),
            1 | 6 | 9 => Some(16),
            2 | 3 | 7 | 10..=12 => Some(32),
            4 | 5 | 8 => Some(64),
            13 | 14 => Some(4),
            15 => Some(6),
            _ => None,
        }
    }

    /// Of elements of which each sixteen get sixteen bytes of shared memory: how many of those bytes they fill.
    pub(crate) fn padded(&self) -> Option<u32> {
        match self.dtype {
            14 => Some(8),
            15 => Some(12),
            _ => None,
        }
    }

    /// Bytes of a row of the box in shared memory.
    pub(crate) fn row_bytes(&self) -> Option<u64> {
        let elements = u64::from(self.box_dims[0]);
        let bits = self.element_bits()?;
        Some(if self.padded().is_some() { elements } else { elements * u64::from(bits) / 8 })
    }

    /// Bytes of the span that the swizzle permutes 16-byte units in; `None` without swizzle.
    pub(crate) fn swizzle_span(&self) -> Option<u32> {
        match self.swizzle {
            1 => Some(32),
            2 => Some(64),
            3 => Some(128),
            _ => None,
        }
    }

    /// Checks every rule.
    pub(crate) fn check(&self) -> Result<(), TensorMapError> {
        use TensorMapError as E;
        self.element_bits().ok_or(E::Dtype { actual: self.dtype })?;
        if matches!(self.dtype, 10..=12) {
            return Err(E::DtypeNotModelled { actual: self.dtype });
        }
        let rank = self.dims.len();
        if !(1..=MAX_RANK).contains(&rank) {
            return Err(E::Rank { actual: rank });
        }
        for (field, required, actual) in [
            (TensorMapField::Strides, rank - 1, self.strides_bytes.len()),
            (TensorMapField::BoxDims, rank, self.box_dims.len()),
            (TensorMapField::ElementStrides, rank, self.element_strides.len()),
        ] {
            if required != actual {
                return Err(E::Length { field, rank, required, actual });
            }
        }
        self.check_modes()?;
        let align = if self.interleave == 2 || self.padded().is_some() { 32 } else { 16 };
        if !self.address.is_multiple_of(align) {
            return Err(E::Address { required: align, actual: self.address });
        }
        for (dim, &actual) in self.dims.iter().enumerate() {
            if !(1..=1 << 32).contains(&actual) {
                return Err(E::Dim { dim, actual });
            }
        }
        for (dim, &actual) in (1..).zip(&self.strides_bytes) {
            if !actual.is_multiple_of(align) {
                return Err(E::StrideAlignment { dim, required: align, actual });
            }
            if actual >= 1 << 40 {
                return Err(E::StrideSize { dim, actual });
            }
        }
        for (dim, &actual) in self.box_dims.iter().enumerate() {
            if !(1..=256).contains(&actual) {
                return Err(E::BoxDim { dim, actual });
            }
        }
        for (dim, &actual) in self.element_strides.iter().enumerate() {
            if !(1..=8).contains(&actual) {
                return Err(E::ElementStride { dim, actual });
            }
        }
        self.check_packed()?;
        let inner = self.row_bytes().ok_or(E::Dtype { actual: self.dtype })?;
        if self.interleave == 0 && !inner.is_multiple_of(16) {
            return Err(E::InnerBox { actual: inner });
        }
        if let Some(span) = self.swizzle_span().map(u64::from)
            && inner > span
        {
            return Err(E::SwizzleSpan { required: span, actual: inner });
        }
        if self.interleave != 0 {
            return Err(E::InterleaveNotModelled { actual: self.interleave });
        }
        Ok(())
    }

    /// The rules of elements that are narrower than a byte.
    fn check_packed(&self) -> Result<(), TensorMapError> {
        use TensorMapError as E;
        let (dtype, box_dim, dim) = (self.dtype, self.box_dims[0], self.dims[0]);
        let packed_box = |required| Err(E::PackedBox { dtype, required, actual: box_dim });
        match self.padded() {
            Some(_) if box_dim != 128 => packed_box("128"),
            Some(_) if !dim.is_multiple_of(128) => {
                Err(E::PackedDim { dtype, required: 128, actual: dim })
            }
            Some(_) if !matches!(self.swizzle, 0 | 3) => {
                Err(E::PackedSwizzle { dtype, actual: self.swizzle })
            }
            None if dtype == 13 && !box_dim.is_multiple_of(2) => packed_box("an even number of"),
            None if dtype == 13 && !dim.is_multiple_of(2) => {
                Err(E::PackedDim { dtype, required: 2, actual: dim })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// The rules of interleave, swizzle and fill.
    fn check_modes(&self) -> Result<(), TensorMapError> {
        use TensorMapError as E;
        if self.interleave > 2 {
            return Err(E::Interleave { actual: self.interleave });
        }
        if self.swizzle > 3 {
            return Err(E::Swizzle { actual: self.swizzle });
        }
        if self.oob_fill > 1 {
            return Err(E::Fill { actual: self.oob_fill });
        }
        if self.oob_fill == 1 && !matches!(self.dtype, 6..=9) {
            return Err(E::FillType { dtype: self.dtype });
        }
        if self.interleave != 0 && self.dims.len() < 3 {
            return Err(E::InterleaveRank { actual: self.dims.len() });
        }
        if self.interleave == 2 && self.swizzle != 1 {
            return Err(E::InterleaveSwizzle { actual: self.swizzle });
        }
        Ok(())
    }
}
