//! The 128 bytes of a tensor map, in the emulator's own form.

use super::{MAX_RANK, Pixels, TensorMap};
use crate::code::MapField;

/// Bytes of an encoded tensor map.
pub(crate) const TENSOR_MAP_BYTES: usize = 128;
/// The alignment of a tensor map in memory (CUDA driver API, `cuTensorMapEncodeTiled`).
pub(crate) const TENSOR_MAP_ALIGN: u64 = 64;
/// The first bytes of an encoded map.
const MAGIC: [u8; 8] = *b"KilnTMap";

// Where the fields are.
const ADDRESS: usize = 8;
/// Extents less one, since an extent may be 2^32.
const DIMS: usize = 16;
const STRIDES: usize = 40;
const BOX_DIMS: usize = 72;
const ELEMENT_STRIDES: usize = 92;
const DTYPE: usize = 112;
/// Rank less one.
const RANK: usize = 113;
const INTERLEAVE: usize = 114;
const SWIZZLE: usize = 115;
const OOB_FILL: usize = 116;
/// 0 for a tiled map; of an im2col map the pixels of a column.
const PIXELS: usize = 118;
/// Of an im2col map, whose box has channels alone: the corners of its bounding box, where the other extents of a box are.
const LOWER: usize = BOX_DIMS + 4;
const UPPER: usize = LOWER + 6;
/// A bit for each field that a map has not got yet which a kernel makes from zeroes.
const MISSING: usize = 120;

/// The fields, as `tensormap.replace` names them, and how many of each there are.
const FIELDS: [(&str, u32); 10] = [
    ("global_address", 1),
    ("rank", 1),
    ("box_dim", 5),
    ("global_dim", 5),
    ("element_stride", 5),
    ("global_stride", 4),
    ("elemtype", 1),
    ("interleave_layout", 1),
    ("swizzle_mode", 1),
    ("fill_mode", 1),
];

/// The bit of a field that is missing: the fields that one name stands for are beside one another.
fn bit(name: &str, index: usize) -> u32 {
    let before = FIELDS.iter().take_while(|field| field.0 != name).map(|field| field.1);
    let index = u32::try_from(index).expect("a map has at most five dimensions");
    1 << (before.sum::<u32>() + index)
}

/// The bit of a field.
fn bit_of(field: MapField) -> u32 {
    match field {
        MapField::GlobalAddress => bit("global_address", 0),
        MapField::Rank => bit("rank", 0),
        MapField::BoxDim(dim) => bit("box_dim", dim),
        MapField::GlobalDim(dim) => bit("global_dim", dim),
        MapField::ElementStride(dim) => bit("element_stride", dim),
        MapField::GlobalStride(dim) => bit("global_stride", dim),
        MapField::ElementType => bit("elemtype", 0),
        MapField::Interleave => bit("interleave_layout", 0),
        MapField::Swizzle => bit("swizzle_mode", 0),
        MapField::Fill => bit("fill_mode", 0),
    }
}

/// The first field without which a map of that rank is not complete.
fn missing(bits: u32, rank: usize) -> Option<String> {
    for (name, count) in FIELDS {
        let dims = if name == "global_stride" { rank - 1 } else { rank };
        let needed = if count == 1 { 1 } else { dims };
        if let Some(index) = (0..needed).find(|&index| bits & bit(name, index) != 0) {
            let dim = if count == 1 { String::new() } else { format!(" {index}") };
            return Some(format!("`.{name}`{dim}"));
        }
    }
    None
}

/// `CUtensorMapDataType` of the element types as `tensormap.replace` numbers them, 0 to 12 (PTX ISA,
/// "tensormap.replace").
const REPLACED_TYPES: [u8; 13] = [0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9, 11, 12];

/// The form of a map that was checked.
pub(super) fn encode(map: &TensorMap) -> [u8; TENSOR_MAP_BYTES] {
    let mut bytes = [0; TENSOR_MAP_BYTES];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[ADDRESS..][..8].copy_from_slice(&map.address.to_le_bytes());
    let less_one = |dim: u64| u32::try_from(dim - 1).expect("`check` bounds the extents");
    for (i, &dim) in map.dims.iter().enumerate() {
        put_word(&mut bytes, DIMS + 4 * i, less_one(dim));
    }
    for (i, stride) in map.strides_bytes.iter().enumerate() {
        bytes[STRIDES + 8 * i..][..8].copy_from_slice(&stride.to_le_bytes());
    }
    for (start, list) in [(BOX_DIMS, &map.box_dims), (ELEMENT_STRIDES, &map.element_strides)] {
        for (i, value) in list.iter().enumerate() {
            put_word(&mut bytes, start + 4 * i, *value);
        }
    }
    let rank = u32::try_from(map.dims.len()).expect("`check` bounds the rank");
    for (at, value) in [
        (DTYPE, map.dtype),
        (RANK, rank - 1),
        (INTERLEAVE, map.interleave),
        (SWIZZLE, map.swizzle),
        (OOB_FILL, map.oob_fill),
    ] {
        bytes[at] = u8::try_from(value).expect("`check` bounds the modes");
    }
    bytes
}

/// The form of an im2col map that was checked.
pub(super) fn encode_im2col(map: &TensorMap, pixels: &Pixels) -> [u8; TENSOR_MAP_BYTES] {
    let mut bytes = encode(map);
    let small = |value: i32| i16::try_from(value).expect("`Im2colMap::encode` bounds the corners");
    for (start, corner) in [(LOWER, pixels.lower), (UPPER, pixels.upper)] {
        for (at, value) in (start..).step_by(2).zip(corner) {
            bytes[at..][..2].copy_from_slice(&small(value).to_le_bytes());
        }
    }
    let count = u16::try_from(pixels.count).expect("`Im2colMap::encode` bounds the pixels");
    bytes[PIXELS..][..2].copy_from_slice(&count.to_le_bytes());
    bytes
}

/// What an im2col map has that others do not; nothing of a tiled one.
fn pixels(bytes: &[u8; TENSOR_MAP_BYTES]) -> Option<Pixels> {
    let half = |at: usize| {
        let part = bytes[at..].first_chunk::<2>().expect("the fields lie in the map");
        i16::from_le_bytes(*part)
    };
    let corner = |start: usize| [0, 2, 4].map(|at| i32::from(half(start + at)));
    let count = u32::from(half(PIXELS).cast_unsigned());
    (count != 0).then(|| Pixels { count, lower: corner(LOWER), upper: corner(UPPER) })
}

/// The map that the bytes are of, which a kernel may have made or changed.
///
/// # Errors
/// They are of none, or of one that is not complete.
pub(crate) fn decode(
    bytes: &[u8; TENSOR_MAP_BYTES],
) -> Result<(TensorMap, Option<Pixels>), String> {
    let word = |at: usize| {
        let part = bytes[at..].first_chunk::<4>().expect("the fields lie in the map");
        u32::from_le_bytes(*part)
    };
    let double = |at: usize| u64::from(word(at + 4)) << 32 | u64::from(word(at));
    let rank = usize::from(bytes[RANK]) + 1;
    if bytes[..8] != MAGIC || rank > MAX_RANK {
        return Err(no_map());
    }
    if let Some(field) = missing(word(MISSING), rank) {
        return Err(format!(
            "the kernel made the tensor map from zeroes, and its field {field} was never set: a `tensormap.replace` of it is missing before"
        ));
    }
    let words = |start: usize| (0..rank).map(|i| word(start + 4 * i)).collect();
    let pixels = pixels(bytes);
    let mut box_dims: Vec<u32> = words(BOX_DIMS);
    if pixels.is_some() {
        box_dims[1..].fill(1);
    }
    let map = TensorMap {
        dtype: bytes[DTYPE].into(),
        address: double(ADDRESS),
        dims: (0..rank).map(|i| u64::from(word(DIMS + 4 * i)) + 1).collect(),
        strides_bytes: (0..rank - 1).map(|i| double(STRIDES + 8 * i)).collect(),
        box_dims,
        element_strides: words(ELEMENT_STRIDES),
        interleave: bytes[INTERLEAVE].into(),
        swizzle: bytes[SWIZZLE].into(),
        oob_fill: bytes[OOB_FILL].into(),
    };
    Ok((map, pixels))
}

fn no_map() -> String {
    format!("its {TENSOR_MAP_BYTES} bytes are not a tensor map")
}

/// Changes a field; of zeroes, it begins a map. What the fields mean together is checked when a copy uses the map.
///
/// # Errors
/// What is wrong: the bytes are no map, or the field cannot have the value.
pub(crate) fn replace(
    bytes: &mut [u8; TENSOR_MAP_BYTES],
    field: MapField,
    value: u64,
) -> Result<(), String> {
    if *bytes == [0; TENSOR_MAP_BYTES] {
        bytes[..8].copy_from_slice(&MAGIC);
        let all = FIELDS.iter().map(|field| field.1).sum::<u32>();
        put_word(bytes, MISSING, (1 << all) - 1);
    }
    if bytes[..8] != MAGIC {
        return Err(no_map());
    }
    if pixels(bytes).is_some() {
        return Err(
            "`tensormap.replace.tile` changes tiled maps, and this is an im2col map".to_owned()
        );
    }
    let within = |what: &str, low: u64, high: u64| {
        if (low..=high).contains(&value) {
            return Ok(u32::try_from(value).expect("the bounds are small"));
        }
        Err(format!("{what} is {low} to {high}, not {value}"))
    };
    let index = |dim: usize, count: usize| {
        if dim < count { Ok(dim) } else { Err(format!("dimension {dim} of {count}")) }
    };
    match field {
        MapField::GlobalAddress => {
            bytes[ADDRESS..][..8].copy_from_slice(&value.to_le_bytes());
        }
        MapField::GlobalStride(dim) => {
            let at = STRIDES + 8 * index(dim, MAX_RANK - 1)?;
            bytes[at..][..8].copy_from_slice(&value.to_le_bytes());
        }
        MapField::GlobalDim(dim) => {
            let extent = within("the extent of a dimension", 1, u64::from(u32::MAX))?;
            put_word(bytes, DIMS + 4 * index(dim, MAX_RANK)?, extent - 1);
        }
        MapField::BoxDim(dim) => {
            let extent = within("the extent of a box", 1, 256)?;
            put_word(bytes, BOX_DIMS + 4 * index(dim, MAX_RANK)?, extent);
        }
        MapField::ElementStride(dim) => {
            let stride = within("an element stride", 1, 8)?;
            put_word(bytes, ELEMENT_STRIDES + 4 * index(dim, MAX_RANK)?, stride);
        }
        MapField::ElementType => {
            let last = REPLACED_TYPES.len() as u64 - 1;
            bytes[DTYPE] = REPLACED_TYPES[within("the element type", 0, last)? as usize];
        }
        MapField::Rank => bytes[RANK] = narrow(within("the rank less one", 0, 4)?),
        MapField::Interleave => bytes[INTERLEAVE] = narrow(within("the interleave", 0, 2)?),
        MapField::Swizzle => bytes[SWIZZLE] = narrow(within("the swizzle", 0, 3)?),
        MapField::Fill => bytes[OOB_FILL] = narrow(within("the fill", 0, 1)?),
    }
    let missing = bytes[MISSING..].first_chunk::<4>().expect("it lies in the map");
    let missing = u32::from_le_bytes(*missing) & !bit_of(field);
    put_word(bytes, MISSING, missing);
    Ok(())
}

fn narrow(value: u32) -> u8 {
    u8::try_from(value).expect("the modes are small")
}

fn put_word(bytes: &mut [u8; TENSOR_MAP_BYTES], at: usize, value: u32) {
    bytes[at..][..4].copy_from_slice(&value.to_le_bytes());
}
