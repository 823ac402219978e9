//! The rules of tensor maps and of the instructions that use them, as far as they can be known while compiling.

use super::map::Map;
use super::{Declined, Rule};

/// The most elements of a box along one dimension (CUDA driver API, `cuTensorMapEncodeTiled`, `boxDim`).
pub(super) const BOX_LIMIT: u64 = 256;
/// The most elements of a tensor along one dimension (the same, `globalDim`).
pub(super) const EXTENT_LIMIT: u64 = 1 << 32;
/// The most dimensions of a map (the same, `tensorRank`).
const RANK_LIMIT: u64 = 5;
/// The limit of a stride, in bytes (the same, `globalStrides`).
const STRIDE_LIMIT: u64 = 1 << 40;
/// The divisor of strides and of the innermost extent of a box (the same, `globalStrides` and `boxDim`).
const UNIT_BYTES: u64 = 16;
/// The divisor of the shared address of a box (PTX ISA, "`cp.async.bulk.tensor`").
const SHARED_UNIT_BYTES: u64 = 128;

/// Whether a map is legal, except for what only the launch knows; the first broken rule, in the order of [`Rule`].
pub(super) fn validate(map: &Map) -> Result<(), Declined> {
    let broken = |rule, dim, required, actual| Err(Declined::Map { rule, dim, required, actual });
    let rank = map.dims.len() as u64;
    let Some(inner) = map.dims.first().filter(|_| rank <= RANK_LIMIT) else {
        return broken(Rule::Rank, None, RANK_LIMIT, rank);
    };
    for (at, dim) in map.dims.iter().enumerate() {
        if let Some(actual) =
            dim.extent.known().filter(|&extent| !(1..=EXTENT_LIMIT).contains(&extent))
        {
            return broken(Rule::GlobalDim, Some(at), EXTENT_LIMIT, actual);
        }
    }
    for (at, dim) in map.dims.iter().enumerate().skip(1) {
        let Some(stride) = dim.stride.known() else { continue };
        let actual = stride.saturating_mul(map.tensor_bytes.into());
        if actual >= STRIDE_LIMIT {
            return broken(Rule::GlobalStrideRange, Some(at), STRIDE_LIMIT, actual);
        }
        if !actual.is_multiple_of(UNIT_BYTES) {
            return broken(Rule::GlobalStrideAlignment, Some(at), UNIT_BYTES, actual);
        }
    }
    if let Some(actual) = inner.stride.known().filter(|&stride| stride != 1) {
        return broken(Rule::InnerStride, Some(0), 1, actual);
    }
    for (at, dim) in map.dims.iter().enumerate() {
        if !(1..=BOX_LIMIT).contains(&dim.box_elems) {
            return broken(Rule::BoxDim, Some(at), BOX_LIMIT, dim.box_elems);
        }
    }
    let element_bytes = u64::from(map.element_bytes);
    let row_bytes = inner.box_elems * element_bytes;
    if !row_bytes.is_multiple_of(UNIT_BYTES) {
        return broken(Rule::InnerBoxBytes, Some(0), UNIT_BYTES, row_bytes);
    }
    if let Some(span) = map.span_bytes() {
        if row_bytes > span {
            return broken(Rule::SwizzleInnerBox, Some(0), span, row_bytes);
        }
        let rows = map.dims.iter().skip(1).any(|dim| dim.box_elems > 1);
        if rows && row_bytes < span {
            return broken(Rule::SwizzlePitch, Some(0), span, row_bytes);
        }
    }
    // Further instructions are whole boxes away.
    let unit = UNIT_BYTES / element_bytes;
    if !inner.coordinate.is_multiple_of(unit) {
        let known = inner.coordinate.start.map(|start| start.multiple_of);
        let actual = known.unwrap_or(inner.coordinate.plus.unsigned_abs());
        return broken(Rule::InnerCoordinate, Some(0), UNIT_BYTES, actual * element_bytes);
    }
    let issues = map.dims.iter().flat_map(|dim| &dim.issues).map(|issue| issue.shared_bytes);
    let places = std::iter::once(map.offset_bytes).chain(issues);
    match places.into_iter().find(|place| !place.is_multiple_of(SHARED_UNIT_BYTES)) {
        Some(actual) => broken(Rule::SharedAlignment, None, SHARED_UNIT_BYTES, actual),
        None => Ok(()),
    }
}
