//! Loads and stores in the memory of the arguments.

use super::element::{ADDRESS_BITS, Element, Pointer};
use super::{Arg, Fault};
use crate::ir::Dtype;

/// Reads one element.
pub(super) fn load(args: &[Arg], dtype: Dtype, at: Pointer) -> Result<Element, Fault> {
    let bytes = dtype.bytes() as usize;
    let start = place(args, dtype, at)?;
    let mut bits = [0; 16];
    bits[..bytes].copy_from_slice(&bytes_of(args, at.param)[start..start + bytes]);
    Ok(Element::from_bits(dtype, u128::from_le_bytes(bits)))
}

/// Writes one element.
pub(super) fn store(
    args: &mut [Arg],
    dtype: Dtype,
    at: Pointer,
    value: Element,
) -> Result<(), Fault> {
    let bytes = dtype.bytes() as usize;
    let start = place(args, dtype, at)?;
    let bits = value.to_bits(dtype)?.to_le_bytes();
    match &mut args[at.param] {
        Arg::Tensor { data, .. } | Arg::Pointer { data, .. } => {
            data[start..start + bytes].copy_from_slice(&bits[..bytes]);
        }
        Arg::Scalar { .. } | Arg::Absent => {
            unreachable!("no pointer to a scalar or an absent argument exists")
        }
    }
    Ok(())
}

/// Where the first element of a tensor is, or where a pointer points to.
pub(super) fn base(args: &[Arg], param: usize) -> Pointer {
    let offset_bytes = match &args[param] {
        Arg::Tensor { offset, dtype, .. } => as_i128(*offset) * i128::from(dtype.bytes()),
        Arg::Pointer { offset, .. } => as_i128(*offset),
        Arg::Scalar { .. } | Arg::Absent => {
            unreachable!("eval::check_args gave this parameter memory")
        }
    };
    Pointer { param, offset_bytes }
}

/// Where an address that stood in memory points to: see [`Element::address`]. Nowhere if it was made of another number.
pub(super) fn pointer(args: &[Arg], address: Element) -> Element {
    let Element::Int(address) = address else { return Element::Undefined };
    let (of, offset) = ((address >> ADDRESS_BITS) - 1, address & ((1 << ADDRESS_BITS) - 1));
    let has_memory = |arg: &Arg| matches!(arg, Arg::Tensor { .. } | Arg::Pointer { .. });
    match usize::try_from(of) {
        Ok(param) if args.get(param).is_some_and(has_memory) => {
            let half = 1 << (ADDRESS_BITS - 1);
            let offset_bytes = if offset < half { offset } else { offset - 2 * half };
            Element::Pointer(Pointer { param, offset_bytes })
        }
        Ok(_) | Err(_) => Element::Undefined,
    }
}

/// Extents, and strides in elements, of a tensor.
pub(super) fn tensor(args: &[Arg], param: usize) -> (&[u32], &[i64]) {
    match &args[param] {
        Arg::Tensor { shape, strides, .. } => (shape, strides),
        Arg::Pointer { .. } | Arg::Scalar { .. } | Arg::Absent => {
            unreachable!("eval::check_args gave this parameter a tensor")
        }
    }
}

/// The address of the element at `coordinates`; none outside of the tensor, or of the slice of it from the first positions up to the others.
pub(super) fn element_of(
    args: &[Arg],
    param: usize,
    dtype: Dtype,
    coordinates: &[i128],
    slice: Option<&[Vec<i128>; 2]>,
) -> Option<Pointer> {
    let within = |[first, end]: &[Vec<i128>; 2]| {
        let bounds = first.iter().zip(end);
        coordinates.iter().zip(bounds).all(|(at, (first, end))| (*first..*end).contains(at))
    };
    if !slice.is_none_or(within) {
        return None;
    }
    let (shape, strides) = tensor(args, param);
    let mut at = base(args, param);
    for ((&coordinate, &extent), &stride) in coordinates.iter().zip(shape).zip(strides) {
        if !(0..i128::from(extent)).contains(&coordinate) {
            return None;
        }
        at.offset_bytes += coordinate * i128::from(stride) * i128::from(dtype.bytes());
    }
    Some(at)
}

fn bytes_of(args: &[Arg], param: usize) -> &[u8] {
    match &args[param] {
        Arg::Tensor { data, .. } | Arg::Pointer { data, .. } => data,
        Arg::Scalar { .. } | Arg::Absent => {
            unreachable!("no pointer to a scalar or an absent argument exists")
        }
    }
}

/// The index of the first byte of an access.
fn place(args: &[Arg], dtype: Dtype, at: Pointer) -> Result<usize, Fault> {
    let (param, offset_bytes) = (at.param, at.offset_bytes);
    let (size_bytes, bytes) = (bytes_of(args, param).len(), dtype.bytes());
    let inside = offset_bytes >= 0 && offset_bytes + i128::from(bytes) <= as_i128(size_bytes);
    if !inside {
        return Err(Fault::OutOfBounds { param, offset_bytes, size_bytes });
    }
    if offset_bytes % i128::from(bytes) != 0 {
        return Err(Fault::Misaligned { param, offset_bytes });
    }
    Ok(usize::try_from(offset_bytes).expect("it lies inside the allocation"))
}

fn as_i128(size: usize) -> i128 {
    i128::try_from(size).expect("usize has at most 64 bits")
}
