//! Tensor maps encoded by the driver.

use super::{check, library};
use crate::{
    DriverError,
    tensor_map::{Encoding, Places, TensorMap},
};
use cudarc::driver::sys;
use std::{ffi::c_void, ptr::without_provenance_mut};

/// `cuTensorMapEncodeTiled`, with its enums as the integers that they are in C (CUDA Driver API, "Tensor Map Object Management").
type EncodeTiled = unsafe extern "C" fn(
    map: *mut TensorMap,
    dtype: u32,
    rank: u32,
    address: *mut c_void,
    extents: *const u64,
    strides_bytes: *const u64,
    box_elems: *const u32,
    element_strides: *const u32,
    interleave: u32,
    swizzle: u32,
    l2_promotion: u32,
    fill: u32,
) -> sys::CUresult;

/// `cuTensorMapEncodeIm2col`, in the same way.
type EncodeIm2col = unsafe extern "C" fn(
    map: *mut TensorMap,
    dtype: u32,
    rank: u32,
    address: *mut c_void,
    extents: *const u64,
    strides_bytes: *const u64,
    lower_corner: *const i32,
    upper_corner: *const i32,
    channels_per_pixel: u32,
    pixels_per_column: u32,
    element_strides: *const u32,
    interleave: u32,
    swizzle: u32,
    l2_promotion: u32,
    fill: u32,
) -> sys::CUresult;

const TILED: &str = "cuTensorMapEncodeTiled";
const IM2COL: &str = "cuTensorMapEncodeIm2col";

/// The driver lacks a function.
fn missing(call: &'static str) -> DriverError {
    let message = "the driver is older than CUDA 12.0".to_owned();
    let code = sys::CUresult::CUDA_ERROR_NOT_FOUND;
    DriverError { call, code: code as u32, name: "CUDA_ERROR_NOT_FOUND".to_owned(), message }
}

/// Encodes a map. The driver's library is loaded.
///
/// # Errors
/// The driver's error; before CUDA 12, that it has no such function.
pub(super) fn encode(encoding: &Encoding) -> Result<TensorMap, DriverError> {
    if let Some(places) = encoding.places {
        return encode_im2col(encoding, places);
    }
    // The bindings have this function only when they were built for CUDA 12 or later, and may panic where the driver lacks it.
    // SAFETY: the driver documents this signature for the name.
    let encode = unsafe { library::function::<EncodeTiled>(c"cuTensorMapEncodeTiled") };
    let Some(encode) = encode else { return Err(missing(TILED)) };
    let mut map = TensorMap([0; 128]);
    let rank = u32::try_from(encoding.rank).unwrap_or(u32::MAX);
    let address = usize::try_from(encoding.address).unwrap_or(usize::MAX);
    // SAFETY: the map is 128 writable bytes at a multiple of 64; the arrays have an entry for each of the dimensions, of which the
    // strides leave out the innermost. The address is only written into the map.
    let answer = unsafe {
        encode(
            &raw mut map,
            encoding.dtype,
            rank,
            without_provenance_mut(address),
            encoding.extents.as_ptr(),
            encoding.strides_bytes[1..].as_ptr(),
            encoding.box_elems.as_ptr(),
            encoding.element_strides.as_ptr(),
            0,
            encoding.swizzle,
            encoding.l2_promotion,
            encoding.fill,
        )
    };
    check(TILED, answer)?;
    Ok(map)
}

fn encode_im2col(encoding: &Encoding, places: Places) -> Result<TensorMap, DriverError> {
    // SAFETY: the driver documents this signature for the name.
    let encode = unsafe { library::function::<EncodeIm2col>(c"cuTensorMapEncodeIm2col") };
    let Some(encode) = encode else { return Err(missing(IM2COL)) };
    let mut map = TensorMap([0; 128]);
    let rank = u32::try_from(encoding.rank).unwrap_or(u32::MAX);
    let address = usize::try_from(encoding.address).unwrap_or(usize::MAX);
    // SAFETY: the map is 128 writable bytes at a multiple of 64; the arrays have an entry for each of the dimensions, of which the
    // strides leave out the innermost and the corners the innermost and the outermost. The address is only written into the map.
    let answer = unsafe {
        encode(
            &raw mut map,
            encoding.dtype,
            rank,
            without_provenance_mut(address),
            encoding.extents.as_ptr(),
            encoding.strides_bytes[1..].as_ptr(),
            places.lower.as_ptr(),
            places.upper.as_ptr(),
            encoding.box_elems[0],
            places.count,
            encoding.element_strides.as_ptr(),
            0,
            encoding.swizzle,
            encoding.l2_promotion,
            encoding.fill,
        )
    };
    check(IM2COL, answer)?;
    Ok(map)
}
