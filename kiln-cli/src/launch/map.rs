//! Tensor maps as launch descriptions give them: the arguments of `cuTensorMapEncodeTiled` or `cuTensorMapEncodeIm2col`.
//!
//! A map of the latter has no `box_dim`. Images of 10 pixels with 4 channels, of which a copy takes 8 pixels, under a filter of 3 with a padding
//! of 1:
//!
//! ```json
//! {
//!   "dtype_enum": 3, "global_address": {"buffer": "x"}, "swizzle_enum": 0,
//!   "global_dim": [4, 10, 2], "global_strides_bytes": [16, 160],
//!   "pixel_box_lower_corner": [-1], "pixel_box_upper_corner": [-1], "channels_per_pixel": 4, "pixels_per_column": 8
//! }
//! ```

use kernel_emulator::{Im2colMap, TensorMapError};

use super::Buffer;
use super::read::named_buffer;
use crate::field::{Field, FieldError};

/// The arguments of `cuTensorMapEncodeTiled` or `cuTensorMapEncodeIm2col`; dimensions are innermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMap {
    /// The element type, as `CUtensorMapDataType` numbers it.
    pub dtype: u32,
    /// The buffer of the tensor, as an index into the launch's buffers.
    pub buffer: usize,
    /// Where the tensor starts in it.
    pub byte_offset: u64,
    /// The extents of the tensor, one for each of its 1 to 5 dimensions.
    pub global_dim: Vec<u64>,
    /// Its strides, of every dimension but the innermost.
    pub global_strides_bytes: Vec<u64>,
    /// What one instruction copies.
    pub copied: Copied,
    /// The steps between elements that are copied.
    pub element_strides: Vec<u32>,
    /// 0 none, 1 16B, 2 32B.
    pub interleave: u32,
    /// 0 none, 1 32B, 2 64B, 3 128B, and the atomicities above it.
    pub swizzle: u32,
    /// 0 none, 1 64B, 2 128B, 3 256B.
    pub l2_promotion: u32,
    /// What is outside reads as: 0 zeros, 1 NaN.
    pub oob_fill: u32,
}

/// What one instruction copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Copied {
    /// A box of these extents.
    Box(Vec<u32>),
    /// Pixels of images, from a bounding box.
    Pixels(Pixels),
}

/// What `cuTensorMapEncodeIm2col` takes in place of the extents of a box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pixels {
    /// From the first element of each dimension of an image to the first of the bounding box.
    pub lower_corner: Vec<i32>,
    /// From the last element of each dimension of an image to the last of the bounding box.
    pub upper_corner: Vec<i32>,
    /// The channels of a pixel.
    pub channels: u32,
    /// The pixels of an instruction.
    pub count: u32,
}

/// The fields of `map` that an im2col map has in place of `box_dim`.
const PIXEL_FIELDS: [&str; 4] =
    ["pixel_box_lower_corner", "pixel_box_upper_corner", "channels_per_pixel", "pixels_per_column"];

impl Copied {
    fn read(field: &Field<'_>, rank: usize) -> Result<Copied, FieldError> {
        let mut given = None;
        for name in PIXEL_FIELDS {
            given = given.or(field.optional(name)?);
        }
        let boxes = field.optional("box_dim")?;
        let Some(given) = given else {
            let boxes = field.get("box_dim")?;
            let box_dim = boxes.integers(1, 256)?;
            same_length(&boxes, box_dim.len(), rank)?;
            return Ok(Copied::Box(box_dim));
        };
        if let Some(boxes) = boxes {
            let problem =
                "a map has either this or the fields of an im2col map, such as `pixels_per_column`";
            return Err(boxes.error(problem));
        }
        if !(3..=5).contains(&rank) {
            let problem =
                format!("an im2col map has 3 to 5 dimensions, but `global_dim` has {rank}");
            return Err(given.error(problem));
        }
        let [lower, upper, channels, count] = PIXEL_FIELDS;
        let corner = |name: &str| {
            let corner = field.get(name)?;
            let list = corner.integers(-1 << 15, (1 << 15) - 1)?;
            same_length(&corner, list.len(), rank - 2)?;
            Ok(list)
        };
        Ok(Copied::Pixels(Pixels {
            lower_corner: corner(lower)?,
            upper_corner: corner(upper)?,
            channels: field.get(channels)?.integer(1, 256)?,
            count: field.get(count)?.integer(1, 1024)?,
        }))
    }
}

impl TensorMap {
    /// Reads `params[].map`.
    pub(crate) fn read(field: &Field<'_>, buffers: &[Buffer]) -> Result<TensorMap, FieldError> {
        let code = |name: &str, most: u32| field.get(name)?.integer(0, most);
        let code_or_zero = |name: &str, most: u32| {
            field.optional(name)?.map_or(Ok(0), |field| field.integer(0, most))
        };
        let address = field.get("global_address")?;
        let name = address.get("buffer")?;
        let dims = field.get("global_dim")?;
        let global_dim = dims.integers(1, 1_u64 << 32)?;
        let rank = global_dim.len();
        if !(1..=5).contains(&rank) {
            return Err(dims.error(format!("required 1 to 5 dimensions, actual {rank}")));
        }
        if let Some(given) = field.optional("rank")? {
            let given_rank: u64 = given.size()?;
            if given_rank != rank as u64 {
                let problem =
                    format!("`global_dim` has {rank} dimensions, but this is {given_rank}");
                return Err(given.error(problem));
            }
        }
        let strides = field.get("global_strides_bytes")?;
        let global_strides_bytes = strides.integers(0, 1_u64 << 40)?;
        same_length(&strides, global_strides_bytes.len(), rank - 1)?;
        let copied = Copied::read(field, rank)?;
        let element_strides = match field.optional("element_strides")? {
            None => vec![1; rank],
            Some(steps) => {
                let element_strides = steps.integers(1, 8)?;
                same_length(&steps, element_strides.len(), rank)?;
                element_strides
            }
        };
        Ok(TensorMap {
            dtype: code("dtype_enum", 15)?,
            buffer: named_buffer(name.text()?, &name, buffers)?,
            byte_offset: address.optional("byte_offset")?.map_or(Ok(0), |field| field.size())?,
            global_dim,
            global_strides_bytes,
            copied,
            element_strides,
            interleave: code_or_zero("interleave_enum", 2)?,
            swizzle: code("swizzle_enum", 6)?,
            l2_promotion: code_or_zero("l2_promotion_enum", 3)?,
            oob_fill: code_or_zero("oob_fill_enum", 1)?,
        })
    }

    /// The bytes of the map of the tensor in a buffer that is at an address.
    pub(crate) fn encode_at(&self, buffer: u64) -> Result<[u8; 128], TensorMapError> {
        let box_dims = match &self.copied {
            Copied::Box(box_dims) => box_dims.clone(),
            Copied::Pixels(pixels) => {
                let mut box_dims = vec![1; self.global_dim.len()];
                box_dims[0] = pixels.channels;
                box_dims
            }
        };
        let tensor = kernel_emulator::TensorMap {
            dtype: self.dtype,
            address: buffer.wrapping_add(self.byte_offset),
            dims: self.global_dim.clone(),
            strides_bytes: self.global_strides_bytes.clone(),
            box_dims,
            element_strides: self.element_strides.clone(),
            interleave: self.interleave,
            swizzle: self.swizzle,
            oob_fill: self.oob_fill,
        };
        match &self.copied {
            Copied::Box(_) => tensor.encode(),
            Copied::Pixels(pixels) => {
                let lower_corner = pixels.lower_corner.clone();
                let upper_corner = pixels.upper_corner.clone();
                let pixels_per_column = pixels.count;
                Im2colMap { tensor, lower_corner, upper_corner, pixels_per_column }.encode()
            }
        }
    }
}

fn same_length(field: &Field<'_>, actual: usize, required: usize) -> Result<(), FieldError> {
    if actual == required {
        return Ok(());
    }
    Err(field.error(format!("required {required} numbers, actual {actual}")))
}
