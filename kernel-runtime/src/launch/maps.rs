//! The tensor maps of a launch: computed from the arguments, checked, and encoded unless the device has done so before.

use crate::{
    Actual, Argument, Dtype, Error, Fill, Image, MapDim, MapExtent, MapInfo, MapPlace, MapRule,
    MapStride, Result, Stream, Variant,
    argument::{TensorValue, Value},
    device::StandIns,
    tensor_map::{Encoding, MOST_DIMS, Places, TensorMap},
};

/// A broken rule, and the actual value.
type Broken = (MapRule, Actual);

/// The maps of a variant, in its order. Nothing is allocated for a variant without any.
pub(super) fn encoded(
    image: &'static Image,
    variant: &'static Variant,
    arguments: &[Argument<'_>],
    stream: &Stream,
) -> Result<Vec<TensorMap>> {
    let mut maps = Vec::with_capacity(variant.maps.len());
    for info in variant.maps {
        maps.push(one(image, info, arguments, stream)?);
    }
    Ok(maps)
}

fn one(
    image: &'static Image,
    info: &'static MapInfo,
    arguments: &[Argument<'_>],
    stream: &Stream,
) -> Result<TensorMap> {
    let kernel = image.kernel;
    let argument = image.params.get(info.param).map_or("", |param| param.name);
    let refused = |(required, actual)| Error::TensorMap { kernel, argument, required, actual };
    let tensor = match arguments.get(info.param).map(|argument| &argument.0) {
        Some(Value::Tensor(tensor)) => tensor,
        Some(Value::Pointer { .. } | Value::Scalar { .. } | Value::Absent) | None => {
            return Err(refused((MapRule::Tensor, Actual::None)));
        }
    };
    let device = stream.device();
    let encoding = if tensor.is_empty() {
        stand_in(info, tensor, device.stand_ins()?).map_err(refused)?
    } else {
        encoding(info, tensor).map_err(refused)?
    };
    has_places(info, tensor).map_err(refused)?;
    device.tensor_maps().get_or_encode(&encoding, || {
        if !tensor.is_empty() {
            check(info, &encoding, tensor).map_err(refused)?;
        }
        stream.queue().encode(&encoding).map_err(|cause| Error::TensorMapRefused {
            kernel,
            argument,
            device: device.label(),
            cause,
            encoding: encoding.to_string().into(),
        })
    })
}

/// An element type of maps.
struct MapDtype {
    /// As `CUtensorMapDataType` numbers it (CUDA Driver API, "Data types used by CUDA driver").
    number: u32,
    /// Bytes of an element of the tensor.
    bytes: u64,
    float: bool,
    /// What the address, strides and rows are multiples of, in bytes.
    alignment: u64,
    /// How many numbers an element of the tensor has, of which each sixteen get sixteen bytes of shared memory. Dimensions of neighbours
    /// count these.
    padded: Option<u64>,
}

/// The element type of that name. Byte types that maps do not distinguish may have their own names.
fn dtype(name: &str) -> Option<MapDtype> {
    let plain = |number, bytes, float| MapDtype {
        number,
        bytes,
        float,
        alignment: ALIGNMENT,
        padded: None,
    };
    // Their rules are stricter (CUDA Driver API, "cuTensorMapEncodeTiled").
    let padded = |number, bytes, numbers| MapDtype {
        alignment: PADDED_ALIGNMENT,
        padded: Some(numbers),
        ..plain(number, bytes, false)
    };
    Some(match name {
        "u8" => plain(0, 1, false),
        "u16" | "i16" => plain(1, 2, false),
        "u32" => plain(2, 4, false),
        "i32" => plain(3, 4, false),
        "u64" => plain(4, 8, false),
        "i64" => plain(5, 8, false),
        "f16" => plain(6, 2, true),
        "f32" => plain(7, 4, true),
        "f64" => plain(8, 8, true),
        "bf16" => plain(9, 2, true),
        "tf32" => plain(11, 4, true),
        "16u4_align16b" => padded(14, 1, 2),
        "16u6_align16b" => padded(15, 12, 16),
        other => {
            Dtype::from_name(other).filter(|dtype| dtype.bytes() == 1)?;
            plain(0, 1, false)
        }
    })
}

/// The bits of addresses and strides that have to be zero (PTX ISA, "Tensor-map"; CUDA Driver API,
/// "cuTensorMapEncodeTiled").
const ALIGNMENT: u64 = 16;
/// The divisor of the address and strides of a map that pads, in bytes.
const PADDED_ALIGNMENT: u64 = 32;
/// The divisor of its innermost extent, in numbers.
const PADDED_ROW: u64 = 128;

/// Strides stay below this.
const STRIDE_LIMIT: u64 = 1 << 40;

fn breaks_stride_rules(bytes: u64, alignment: u64) -> bool {
    bytes >= STRIDE_LIMIT || !bytes.is_multiple_of(alignment)
}

/// The input of the encoder: everything that the launch needs to find an earlier map.
fn encoding(info: &MapInfo, tensor: &TensorValue<'_>) -> Result<Encoding, Broken> {
    let rank = info.dims.len();
    if !(1..=MOST_DIMS).contains(&rank) {
        return Err((MapRule::Rank, Actual::Dims(rank)));
    }
    let dtype = dtype(info.dtype).ok_or((MapRule::Dtype, Actual::Dtype(info.dtype)))?;
    let mut encoding = Encoding {
        dtype: dtype.number,
        rank,
        address: tensor.address,
        extents: [0; MOST_DIMS],
        strides_bytes: [0; MOST_DIMS],
        box_elems: [0; MOST_DIMS],
        element_strides: [0; MOST_DIMS],
        places: places(info)?,
        swizzle: swizzle(info.swizzle_bytes)?,
        l2_promotion: l2_promotion(info.l2_promotion_bytes)?,
        fill: match info.fill {
            Fill::Zero => 0,
            Fill::Nan if dtype.float => 1,
            Fill::Nan => return Err((MapRule::Fill, Actual::Dtype(info.dtype))),
        },
    };
    for (index, dim) in info.dims.iter().enumerate() {
        let extent = extent_of(dim.extent, tensor)?;
        let mut stride = stride_bytes_of(dim.stride, tensor)?;
        // Nothing is ever a step away in a dimension of one element: any legal stride describes it.
        let single = match dim.extent {
            MapExtent::Axis { .. } | MapExtent::Const(_) => extent == 1,
            MapExtent::Tile { axis, .. } | MapExtent::Ends { axis, .. } => {
                axis_of(&tensor.shape, axis)? == 1
            }
        };
        if single && index == 0 {
            stride = dtype.bytes;
        } else if single && breaks_stride_rules(stride, dtype.alignment) {
            stride = dtype.alignment;
        }
        if index == 0 && stride != dtype.bytes {
            let rule = MapRule::InnerStride { place: place(index, dim), bytes: dtype.bytes };
            return Err((rule, Actual::StrideBytes(stride)));
        }
        encoding.extents[index] =
            if index == 0 { extent.saturating_mul(dtype.padded.unwrap_or(1)) } else { extent };
        encoding.strides_bytes[index] = stride;
        encoding.box_elems[index] = dim.box_elems;
        encoding.element_strides[index] = dim.element_stride;
    }
    encoding.address = tensor.address.wrapping_sub(bytes_before(info, &encoding));
    encoding.l2_promotion = l2_promotion(encoding.useful_promotion(info.l2_promotion_bytes))?;
    // Seen on an H200 with rows of u8, i16, f16, bf16 and f32: the bytes behind a row that ends within a piece of 16 were overwritten.
    let row_bytes = encoding.extents[0].saturating_mul(dtype.bytes);
    if info.written && !row_bytes.is_multiple_of(ALIGNMENT) {
        return Err((MapRule::WrittenRow, Actual::Bytes(row_bytes)));
    }
    Ok(encoding)
}

/// The bytes from where a map begins to element 0 of its tensor.
fn bytes_before(info: &MapInfo, encoding: &Encoding) -> u64 {
    let before =
        info.dims.iter().zip(encoding.strides_bytes).map(|(dim, stride)| match dim.extent {
            MapExtent::Ends { elements, .. } => stride.saturating_mul(elements.into()),
            MapExtent::Axis { .. } | MapExtent::Const(_) | MapExtent::Tile { .. } => 0,
        });
    before.fold(0, u64::saturating_add)
}

/// The map of a tensor without elements, which the encoder does not support: for reads, a single element with the fill
/// value; for writes, a row of 16 bytes that nobody reads.
fn stand_in(
    info: &MapInfo,
    tensor: &TensorValue<'_>,
    memory: StandIns,
) -> Result<Encoding, Broken> {
    let dtype = dtype(info.dtype).ok_or((MapRule::Dtype, Actual::Dtype(info.dtype)))?;
    let address = match (info.written, info.fill) {
        (true, _) => memory.written,
        (false, Fill::Zero) => memory.zeros,
        (false, Fill::Nan) => memory.ones,
    };
    let mut encoding = Encoding {
        dtype: dtype.number,
        rank: info.dims.len().min(MOST_DIMS),
        address,
        extents: [0; MOST_DIMS],
        strides_bytes: [0; MOST_DIMS],
        box_elems: [0; MOST_DIMS],
        element_strides: [0; MOST_DIMS],
        places: places(info)?,
        swizzle: swizzle(info.swizzle_bytes)?,
        l2_promotion: l2_promotion(info.l2_promotion_bytes)?,
        fill: u32::from(info.fill == Fill::Nan),
    };
    for (index, dim) in info.dims.iter().enumerate().take(MOST_DIMS) {
        let inner = index == 0;
        encoding.extents[index] = match (inner, info.written) {
            (true, _) if dtype.padded.is_some() => PADDED_ROW,
            (true, true) => ALIGNMENT / dtype.bytes,
            (true, false) | (false, _) => 1,
        };
        encoding.strides_bytes[index] = if inner { dtype.bytes } else { PADDED_ROW };
        encoding.box_elems[index] = dim.box_elems;
        encoding.element_strides[index] = dim.element_stride;
        // The kernel finds the places by the extents of the tensor: the same elements are under all of them.
        if !inner && info.places.is_some() {
            encoding.extents[index] = extent_of(dim.extent, tensor)?.max(1);
            encoding.strides_bytes[index] = 0;
        }
    }
    Ok(encoding)
}

/// The places of a filter, as the encoder takes them.
fn places(info: &MapInfo) -> Result<Option<Places>, Broken> {
    let Some(places) = info.places else { return Ok(None) };
    let corner = |list: &[i32]| {
        let mut corner = [0; MOST_DIMS - 2];
        let dims = info.dims.len().checked_sub(2).filter(|dims| (1..=corner.len()).contains(dims));
        if dims != Some(list.len()) {
            return Err((MapRule::Places, Actual::Dims(info.dims.len())));
        }
        corner[..list.len()].copy_from_slice(list);
        Ok(corner)
    };
    let (lower, upper) = (corner(places.lower)?, corner(places.upper)?);
    Ok(Some(Places { count: places.count, lower, upper }))
}

/// Whether the filter of a map has at least one place along each axis, and no more than a kernel can count.
fn has_places(info: &MapInfo, tensor: &TensorValue<'_>) -> Result<(), Broken> {
    let Some(places) = info.places else { return Ok(()) };
    for ((dim, lower), upper) in info.dims[1..].iter().zip(places.lower).zip(places.upper) {
        let MapExtent::Axis { axis, .. } = dim.extent else { continue };
        let extent = axis_of(&tensor.shape, axis)?;
        let spare = i64::from(*upper) - i64::from(*lower);
        let begins = i64::try_from(extent).unwrap_or(i64::MAX).saturating_add(spare);
        if !(1..=i64::from(i32::MAX)).contains(&begins) {
            let (least, most) = ((1 - spare).max(0), i64::from(i32::MAX) - spare);
            return Err((MapRule::FilterFits { axis, least, most }, Actual::Extent(extent)));
        }
    }
    Ok(())
}

fn swizzle(bytes: u32) -> Result<u32, Broken> {
    match bytes {
        0 => Ok(0),
        32 => Ok(1),
        64 => Ok(2),
        128 => Ok(3),
        _ => Err((MapRule::Swizzle, Actual::Bytes(bytes.into()))),
    }
}

fn l2_promotion(bytes: u32) -> Result<u32, Broken> {
    match bytes {
        0 => Ok(0),
        64 => Ok(1),
        128 => Ok(2),
        256 => Ok(3),
        _ => Err((MapRule::L2Promotion, Actual::Bytes(bytes.into()))),
    }
}

/// The axis of a dimension, if its stride gives it.
fn place(index: usize, dim: &MapDim) -> MapPlace {
    match dim.stride {
        MapStride::Axis { axis, .. } => MapPlace::Axis(axis),
        MapStride::Elements(_) => MapPlace::Dim(index),
    }
}

fn axis_of(values: &[usize], axis: usize) -> Result<usize, Broken> {
    values.get(axis).copied().ok_or((MapRule::Axis { axis }, Actual::Dims(values.len())))
}

fn extent_of(extent: MapExtent, tensor: &TensorValue<'_>) -> Result<u64, Broken> {
    match extent {
        MapExtent::Axis { axis, divide } => {
            let elements = axis_of(&tensor.shape, axis)?;
            match (elements as u64).checked_div(divide.into()) {
                Some(extent) if (elements as u64).is_multiple_of(divide.into()) => Ok(extent),
                Some(_) | None => {
                    Err((MapRule::Divisible { axis, by: divide }, Actual::Extent(elements)))
                }
            }
        }
        MapExtent::Const(extent) => Ok(extent),
        MapExtent::Tile { elements, .. } => Ok(elements.into()),
        MapExtent::Ends { axis, .. } => Ok(axis_of(&tensor.shape, axis)? as u64 + 1),
    }
}

/// A stride beyond the address range becomes the largest number, which breaks a rule.
fn stride_bytes_of(stride: MapStride, tensor: &TensorValue<'_>) -> Result<u64, Broken> {
    let elements = match stride {
        MapStride::Axis { axis, times } => {
            (axis_of(&tensor.strides, axis)? as u64).saturating_mul(times.into())
        }
        MapStride::Elements(elements) => elements,
    };
    Ok(elements.saturating_mul(tensor.element_bytes as u64))
}

/// The rules of the encoder, those about the argument first. The driver has one error code for all of them.
fn check(info: &MapInfo, encoding: &Encoding, tensor: &TensorValue<'_>) -> Result<(), Broken> {
    let dtype = dtype(info.dtype).ok_or((MapRule::Dtype, Actual::Dtype(info.dtype)))?;
    let alignment = dtype.alignment;
    if !tensor.address.is_multiple_of(alignment) {
        let rule = MapRule::Address { bytes: alignment };
        return Err((rule, Actual::Address(tensor.address)));
    }
    for (index, dim) in info.dims.iter().enumerate() {
        let (place, extent) = (place(index, dim), encoding.extents[index]);
        if !(1..=1 << 32).contains(&extent) {
            return Err((MapRule::Extent { place }, Actual::Elements(extent)));
        }
        let stride = encoding.strides_bytes[index];
        if stride >= STRIDE_LIMIT {
            return Err((MapRule::StrideLimit { place }, Actual::StrideBytes(stride)));
        }
        if index != 0 && breaks_stride_rules(stride, alignment) {
            let rule = MapRule::StrideMultiple { place, bytes: alignment };
            return Err((rule, Actual::StrideBytes(stride)));
        }
        if let (0, Some(numbers)) = (index, dtype.padded)
            && !extent.is_multiple_of(PADDED_ROW)
        {
            let bytes = |extent| extent / numbers * dtype.bytes;
            let rule = MapRule::PaddedRow { place, bytes: bytes(PADDED_ROW) };
            return Err((rule, Actual::Bytes(bytes(extent))));
        }
    }
    let bytes = span_bytes(&dtype, encoding).saturating_sub(bytes_before(info, encoding));
    let actual = tensor.end() - tensor.address;
    if bytes > actual {
        return Err((MapRule::Inside { bytes }, Actual::Bytes(actual)));
    }
    check_box(info, &dtype, encoding)
}

/// Bytes from the first element of a map to the end of the last one. Extents and strides have been checked: at most 5 times 2^72.
fn span_bytes(dtype: &MapDtype, encoding: &Encoding) -> u64 {
    let mut extents = encoding.extents;
    extents[0] /= dtype.padded.unwrap_or(1);
    let last = extents[..encoding.rank].iter().zip(encoding.strides_bytes);
    let last: u128 = last.map(|(extent, stride)| u128::from(extent - 1) * u128::from(stride)).sum();
    u64::try_from(last + u128::from(encoding.strides_bytes[0])).unwrap_or(u64::MAX)
}

/// The rules about the box, which the compiler has chosen.
fn check_box(info: &MapInfo, dtype: &MapDtype, encoding: &Encoding) -> Result<(), Broken> {
    for (index, dim) in info.dims.iter().enumerate() {
        let place = place(index, dim);
        if !(1..=256).contains(&dim.box_elems) {
            let actual = Actual::Elements(dim.box_elems.into());
            return Err((MapRule::Box { place }, actual));
        }
        let at_most = if index == 0 { 1 } else { 8 };
        if !(1..=at_most).contains(&dim.element_stride) {
            let rule = MapRule::ElementStride { place, at_most };
            return Err((rule, Actual::Every(dim.element_stride)));
        }
    }
    // In shared memory, a number that is padded takes up a byte.
    let bytes = if dtype.padded.is_some() { 1 } else { encoding.strides_bytes[0] };
    let row_bytes = u64::from(encoding.box_elems[0]) * bytes;
    if !row_bytes.is_multiple_of(ALIGNMENT) {
        return Err((MapRule::InnerBox, Actual::Bytes(row_bytes)));
    }
    let bytes = info.swizzle_bytes;
    if bytes != 0 && row_bytes > bytes.into() {
        return Err((MapRule::SwizzleSpan { bytes }, Actual::Bytes(row_bytes)));
    }
    Ok(())
}
