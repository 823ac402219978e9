//! What `cuTensorMapEncodeIm2col` makes of its arguments.

use super::{TensorMap, TensorMapError, encoded};

/// The arguments of `cuTensorMapEncodeIm2col`; dimensions innermost first: channels, one to three of an image, images.
///
/// The bounding box is in the dimensions of an image. Copies take `pixels_per_column` pixels of it, one after the other, from their first one on.
///
/// ```
/// use kernel_emulator::{Im2colMap, TensorMap};
///
/// // Images of 10 x 20 pixels with 64 channels of f16, under a filter of 3 x 3 with a padding of 1.
/// let map = Im2colMap {
///     tensor: TensorMap {
///         dtype: 6,
///         address: 0x7000_0000_0000,
///         dims: vec![64, 20, 10, 8],
///         strides_bytes: vec![128, 2560, 25600],
///         box_dims: vec![64, 1, 1, 1],
///         element_strides: vec![1, 1, 1, 1],
///         interleave: 0,
///         swizzle: 3,
///         oob_fill: 0,
///     },
///     lower_corner: vec![-1, -1],
///     upper_corner: vec![-1, -1],
///     pixels_per_column: 128,
/// };
/// assert!(map.encode().is_ok());
/// let wide = Im2colMap { upper_corner: vec![128, -1], ..map };
/// assert_eq!(
///     wide.encode().unwrap_err().to_string(),
///     "a corner of the bounding box of an im2col tensor map is -128 to 127 from that of the tensor, not 128",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Im2colMap {
    /// What it has like a tiled map. The innermost extent of the box is the number of channels per pixel; the others are 1.
    pub tensor: TensorMap,
    /// From the first element of each dimension of an image to the first of the bounding box, the innermost first.
    pub lower_corner: Vec<i32>,
    /// From the last element of each dimension of an image to the last of the bounding box.
    pub upper_corner: Vec<i32>,
    /// The pixels that a copy takes: 1 to 1024.
    pub pixels_per_column: u32,
}

impl Im2colMap {
    /// The 128 bytes that a kernel's copies read, in the emulator's own form, see [`TensorMap::encode`].
    ///
    /// # Errors
    /// The first rule of `cuTensorMapEncodeIm2col` (CUDA driver API, "Tensor Map Object Management") that the arguments break.
    pub fn encode(&self) -> Result<[u8; 128], TensorMapError> {
        use TensorMapError as E;
        self.tensor.check()?;
        let rank = self.tensor.dims.len();
        let most = most_corner(rank).ok_or(E::Im2colRank { actual: rank })?;
        for list in [&self.lower_corner, &self.upper_corner] {
            if list.len() != rank - 2 {
                return Err(E::Im2colCorners { rank, required: rank - 2, actual: list.len() });
            }
            for &actual in list {
                if !(-most - 1..=most).contains(&actual) {
                    return Err(E::Im2colCorner { least: -most - 1, most, actual });
                }
            }
        }
        if !(1..=1024).contains(&self.pixels_per_column) {
            return Err(E::Im2colPixels { actual: self.pixels_per_column });
        }
        if self.tensor.padded().is_some() || self.tensor.dtype == 13 {
            return Err(E::Im2colNotModelled { what: "an element type narrower than a byte" });
        }
        if self.tensor.element_strides[rank - 1] != 1 {
            return Err(E::Im2colNotModelled { what: "an element stride along the images" });
        }
        let pixels = self.pixels();
        for dim in 1..rank - 1 {
            let actual = pixels.upper(&self.tensor, dim) - i64::from(pixels.lower[dim - 1]) + 1;
            if actual < 1 {
                return Err(E::Im2colEmpty { dim, actual });
            }
        }
        Ok(encoded::encode_im2col(&self.tensor, &pixels))
    }

    fn pixels(&self) -> Pixels {
        let corner = |list: &[i32]| {
            let mut out = [0; 3];
            out[..list.len()].copy_from_slice(list);
            out
        };
        Pixels {
            count: self.pixels_per_column,
            lower: corner(&self.lower_corner),
            upper: corner(&self.upper_corner),
        }
    }
}

/// The largest offset of a corner; each is one bit short of what an offset of the instruction has.
pub(crate) fn most_corner(rank: usize) -> Option<i32> {
    match rank {
        3 => Some((1 << 15) - 1),
        4 => Some((1 << 7) - 1),
        5 => Some((1 << 4) - 1),
        _ => None,
    }
}

/// What an im2col map has that others do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pixels {
    /// The pixels of a column.
    pub(crate) count: u32,
    /// The corners of the bounding box, as they are given.
    pub(crate) lower: [i32; 3],
    pub(crate) upper: [i32; 3],
}

impl Pixels {
    /// The last position in the bounding box along a dimension of an image.
    pub(crate) fn upper(&self, map: &TensorMap, dim: usize) -> i64 {
        map.dims[dim].cast_signed() - 1 + i64::from(self.upper[dim - 1])
    }
}
