//! Tensor maps as launch descriptions give them: the arguments of `cuTensorMapEncodeTiled`.

use super::Buffer;
use super::read::named_buffer;
use crate::field::{Field, FieldError};

/// The arguments of `cuTensorMapEncodeTiled`; dimensions are innermost first.
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
    /// The extents of what one instruction copies.
    pub box_dim: Vec<u32>,
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
        let boxes = field.get("box_dim")?;
        let box_dim = boxes.integers(1, 256)?;
        same_length(&boxes, box_dim.len(), rank)?;
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
            box_dim,
            element_strides,
            interleave: code_or_zero("interleave_enum", 2)?,
            swizzle: code("swizzle_enum", 6)?,
            l2_promotion: code_or_zero("l2_promotion_enum", 3)?,
            oob_fill: code_or_zero("oob_fill_enum", 1)?,
        })
    }

    /// The map of the tensor in a buffer that is at an address.
    pub(crate) fn at(&self, buffer: u64) -> kernel_emulator::TensorMap {
        kernel_emulator::TensorMap {
            dtype: self.dtype,
            address: buffer.wrapping_add(self.byte_offset),
            dims: self.global_dim.clone(),
            strides_bytes: self.global_strides_bytes.clone(),
            box_dims: self.box_dim.clone(),
            element_strides: self.element_strides.clone(),
            interleave: self.interleave,
            swizzle: self.swizzle,
            oob_fill: self.oob_fill,
        }
    }
}

fn same_length(field: &Field<'_>, actual: usize, required: usize) -> Result<(), FieldError> {
    if actual == required {
        return Ok(());
    }
    Err(field.error(format!("required {required} numbers, actual {actual}")))
}
