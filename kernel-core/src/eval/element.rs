//! One element of a tile, and what a value of the IR is.

use super::Fault;
use super::float;
use super::world::BarrierPlace;
use crate::ir::{Dtype, Shared, TensorMemory};

/// A scalar, or one element of a tile. Its type is known from the IR.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Element {
    Bool(bool),
    /// Within the range of its type.
    Int(i128),
    /// Exact in its type: every float type here is a subset of `f64`.
    Float(f64),
    Pointer(Pointer),
    /// Nothing may depend on it.
    Undefined,
}

/// An address in the memory of an argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pointer {
    /// The argument's index.
    pub(super) param: usize,
    /// Bytes from the start of its allocation.
    pub(super) offset_bytes: i128,
}

/// What a value of the IR holds.
#[derive(Clone, Debug)]
pub(super) enum Data {
    Scalar(Element),
    /// Elements in row-major order.
    Tile(Vec<Element>),
    Window(Window),
    Barrier(BarrierPlace),
    TensorMemory(TensorWindow),
}

/// A window of tensor memory: its type says of which allocation or view, and how many rows and columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct TensorWindow {
    /// The allocation, of whose columns it has some.
    pub(super) columns: TensorMemory,
    /// Where the tile begins: the row, and the column of 32 bits, of those of the allocation.
    pub(super) tile: [u32; 2],
    /// The row and the column of the tile's elements at which the window begins.
    pub(super) at: [u32; 2],
}

/// A window of a shared allocation: `extents` elements from `start` on, in the order of the allocation.
#[derive(Clone, Debug)]
pub(super) struct Window {
    /// The block that has it, by its rank in the cluster.
    pub(super) rank: usize,
    pub(super) root: Shared,
    pub(super) start: usize,
    pub(super) extents: Vec<u32>,
    /// Read with its two axes swapped.
    pub(super) transposed: bool,
}

impl Element {
    /// # Errors
    /// For an undefined value.
    pub(super) fn as_bool(self) -> Result<bool, Fault> {
        match self {
            Element::Bool(value) => Ok(value),
            Element::Undefined => Err(Fault::Undefined),
            Element::Int(_) | Element::Float(_) | Element::Pointer(_) => {
                unreachable!("ir::verify checks that this is a bool")
            }
        }
    }

    /// # Errors
    /// For an undefined value.
    pub(super) fn as_int(self) -> Result<i128, Fault> {
        match self {
            Element::Int(value) => Ok(value),
            Element::Undefined => Err(Fault::Undefined),
            Element::Bool(_) | Element::Float(_) | Element::Pointer(_) => {
                unreachable!("ir::verify checks that this is an integer")
            }
        }
    }

    /// # Errors
    /// For an undefined value.
    pub(super) fn as_pointer(self) -> Result<Pointer, Fault> {
        match self {
            Element::Pointer(pointer) => Ok(pointer),
            Element::Undefined => Err(Fault::Undefined),
            Element::Bool(_) | Element::Int(_) | Element::Float(_) => {
                unreachable!("ir::verify checks that this is a pointer")
            }
        }
    }

    /// The element whose bytes in memory, little-endian, are `bits`.
    pub(super) fn from_bits(dtype: Dtype, bits: u64) -> Element {
        match dtype {
            Dtype::Bool => Element::Bool(bits & 0xff != 0),
            Dtype::I8
            | Dtype::I16
            | Dtype::I32
            | Dtype::I64
            | Dtype::U8
            | Dtype::U16
            | Dtype::U32
            | Dtype::U64
            | Dtype::E2m1x2
            | Dtype::Ue8m0 => Element::Int(wrap(dtype, i128::from(bits))),
            Dtype::F16 => Element::Float(float::F16.value_of(low16(bits))),
            Dtype::Bf16 => Element::Float(float::BF16.value_of(low16(bits))),
            Dtype::F32 => {
                let bits = u32::try_from(bits & 0xffff_ffff).expect("32 bits are kept");
                Element::Float(f64::from(f32::from_bits(bits)))
            }
            Dtype::F64 => Element::Float(f64::from_bits(bits)),
            Dtype::E4m3 => Element::Float(float::E4M3.value_of(low16(bits & 0xff))),
            Dtype::E5m2 => Element::Float(float::E5M2.value_of(low16(bits & 0xff))),
        }
    }

    /// The element's bytes in memory, little-endian.
    ///
    /// # Errors
    /// For an undefined value.
    pub(super) fn to_bits(self, dtype: Dtype) -> Result<u64, Fault> {
        Ok(match self {
            Element::Bool(value) => u64::from(value),
            Element::Int(value) => {
                let mask = (1_i128 << (8 * dtype.bytes())) - 1;
                u64::try_from(value & mask).expect("at most 64 bits are kept")
            }
            Element::Float(value) => match dtype {
                Dtype::F16 => u64::from(float::F16.to_bits(value)),
                Dtype::Bf16 => u64::from(float::BF16.to_bits(value)),
                Dtype::F32 => u64::from(float::to_f32(value).to_bits()),
                Dtype::F64 => value.to_bits(),
                Dtype::E4m3 => u64::from(float::E4M3.to_bits(value)),
                Dtype::E5m2 => u64::from(float::E5M2.to_bits(value)),
                Dtype::Bool
                | Dtype::I8
                | Dtype::I16
                | Dtype::I32
                | Dtype::I64
                | Dtype::U8
                | Dtype::U16
                | Dtype::U32
                | Dtype::U64
                | Dtype::E2m1x2
                | Dtype::Ue8m0 => unreachable!("ir::verify checks that a float has a float type"),
            },
            Element::Pointer(_) => unreachable!("ir::verify checks that no pointer is stored"),
            Element::Undefined => return Err(Fault::Undefined),
        })
    }

    /// What a load of memory outside of a tensor gives.
    pub(super) fn zero(dtype: Dtype) -> Element {
        Element::from_bits(dtype, 0)
    }
}

fn low16(bits: u64) -> u16 {
    u16::try_from(bits & 0xffff).expect("16 bits are kept")
}

/// An integer reduced to the range of its type, as hardware arithmetic wraps.
pub(super) fn wrap(dtype: Dtype, value: i128) -> i128 {
    let bits = 8 * dtype.bytes();
    let low = value & ((1 << bits) - 1);
    if dtype.is_signed() && low >> (bits - 1) == 1 { low - (1 << bits) } else { low }
}
