//! One element of a tile, and what a value of the IR is.

use std::sync::Arc;

use super::Fault;
use super::float;
use super::world::BarrierPlace;
use crate::ir::dtype::{Class, Float};
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

/// The low bits of an address in memory: the distance from the first byte of its argument.
pub(super) const ADDRESS_BITS: u32 = 48;

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

/// A window of a shared allocation: `extents` elements from `start` on, in the order of the allocation, or those that are picked.
#[derive(Clone, Debug)]
pub(super) struct Window {
    /// The block that has it, by its rank in the cluster.
    pub(super) rank: usize,
    pub(super) root: Shared,
    pub(super) start: usize,
    pub(super) extents: Vec<u32>,
    /// Read with its two axes swapped.
    pub(super) transposed: bool,
    /// Of a view: where each element begins, in row-major order of the window.
    pub(super) picked: Option<Arc<[usize]>>,
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
    /// An address as the number that memory holds of it: the parameter, from 1, before the distance from its first byte. No device
    /// has such addresses; a kernel cannot tell.
    pub(super) fn address(self) -> Element {
        match self {
            Element::Pointer(Pointer { param, offset_bytes }) => {
                let of = i128::try_from(param).expect("there are few parameters") + 1;
                Element::Int((of << ADDRESS_BITS) | (offset_bytes & ((1 << ADDRESS_BITS) - 1)))
            }
            Element::Int(_) | Element::Float(_) | Element::Bool(_) | Element::Undefined => {
                Element::Undefined
            }
        }
    }

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
    pub(super) fn from_bits(dtype: Dtype, bits: u128) -> Element {
        match dtype.class() {
            Class::Bool => Element::Bool(bits & 0xff != 0),
            Class::Signed | Class::Unsigned | Class::Opaque => {
                Element::Int(wrap(dtype, bits.cast_signed()))
            }
            Class::Float(Float::F64) => Element::Float(f64::from_bits(low64(bits))),
            Class::Float(Float::F32) => {
                let bits = u32::try_from(bits & 0xffff_ffff).expect("32 bits are kept");
                Element::Float(f64::from(f32::from_bits(bits)))
            }
            Class::Float(Float::F16 | Float::Bf16) | Class::Float8(_) => {
                let mask = (1 << (8 * dtype.bytes())) - 1;
                let bits = u16::try_from(bits & mask).expect("at most 16 bits are kept");
                let format = float::format(dtype).expect("it has one");
                Element::Float(format.value_of(bits))
            }
        }
    }

    /// The element's bytes in memory, little-endian.
    ///
    /// # Errors
    /// For an undefined value.
    pub(super) fn to_bits(self, dtype: Dtype) -> Result<u128, Fault> {
        Ok(match self {
            Element::Bool(value) => u128::from(value),
            Element::Int(value) => {
                let mask = (1_i128 << (8 * dtype.bytes())) - 1;
                (value & mask).cast_unsigned()
            }
            Element::Float(value) => match float::format(dtype) {
                Some(format) => u128::from(format.to_bits(value)),
                None if dtype == Dtype::F32 => u128::from(float::to_f32(value).to_bits()),
                None => u128::from(value.to_bits()),
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

fn low64(bits: u128) -> u64 {
    u64::try_from(bits & u128::from(u64::MAX)).expect("64 bits are kept")
}

/// An integer reduced to the range of its type, as hardware arithmetic wraps.
pub(super) fn wrap(dtype: Dtype, value: i128) -> i128 {
    let bits = 8 * dtype.bytes();
    let low = value & ((1 << bits) - 1);
    if dtype.is_signed() && low >> (bits - 1) == 1 { low - (1 << bits) } else { low }
}
