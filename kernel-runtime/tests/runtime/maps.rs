//! Tensor maps: what the launch computes from an argument, and every rule that an argument or a box can break.
//!
//! The kernel copies its maps, bytes as they are, into a tensor; they are compared with the emulator's own encoding of numbers
//! that were worked out by hand.

use half::{bf16, f16};
use kernel_emulator::{Im2colMap, TensorMap};
use kernel_runtime::{
    __launch, Device, DeviceTensor, Element, Fact, Fill, Image, IntoArgument, Launch, MapDim,
    MapExtent, MapInfo, MapPlaces, MapStride, ParamInfo, ParamKind, Result, Stream, Target,
    Variant, e2m1x2, e2m3x16,
};

/// An axis of the tensor as it is.
const fn axis(axis: usize, box_elems: u32) -> MapDim {
    MapDim {
        extent: MapExtent::Axis { axis, divide: 1 },
        stride: MapStride::Axis { axis, times: 1 },
        box_elems,
        element_stride: 1,
    }
}

/// The map of a parameter, without swizzle.
const fn map(dtype: &'static str, dims: &'static [MapDim]) -> MapInfo {
    MapInfo {
        param: 0,
        dtype,
        dims,
        places: None,
        swizzle_bytes: 0,
        l2_promotion_bytes: 128,
        fill: Fill::Zero,
        written: false,
    }
}

/// A row-major matrix in boxes of 32 columns and 8 rows.
const MATRIX: MapInfo = map("f16", const { &[axis(1, 32), axis(0, 8)] });

const fn tensor(name: &'static str, dtype: &'static str, rank: usize, mutable: bool) -> ParamInfo {
    ParamInfo { name, kind: ParamKind::Tensor { dtype, rank, mutable } }
}

/// The text of a kernel that takes `x`, of a rank, and `out`, and copies its maps of so many bytes each to `out`.
fn copying(rank: usize, maps: usize, bytes: usize) -> String {
    let mut params = vec![".param .u64 x".to_owned()];
    params.extend((0..rank).map(|axis| format!(".param .s32 x_dim{axis}")));
    params.extend((0..rank).map(|axis| format!(".param .s64 x_stride{axis}")));
    params.extend(
        [".param .u64 out", ".param .s32 out_dim", ".param .s64 out_stride"].map(String::from),
    );
    params.extend((0..maps).map(|map| format!(".param .align 64 .b8 map{map}[{bytes}]")));
    let words = (0..maps).flat_map(|map| (0..bytes / 8).map(move |word| (map, 8 * word)));
    let copies = words.map(|(map, at)| {
        let to = bytes * map + at;
        format!("ld.param.u64 %d2, [map{map}+{at}];\nst.global.u64 [%d1+{to}], %d2;\n")
    });
    format!(
        ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry copy_maps({})\n{{\n.reg .b64 %d<3>;\n\
         ld.param.u64 %d1, [out];\n{}ret;\n}}\n",
        params.join(", "),
        copies.collect::<String>(),
    )
}

fn variant(rank: usize, maps: &'static [MapInfo]) -> Variant {
    Variant {
        name: "general",
        entry: "copy_maps",
        ptx: copying(rank, maps.len(), 128).leak(),
        dynamic_shared_bytes: 0,
        cubins: &[],
        tensor_columns: 0,
        requires: &[],
        maps,
        names: None,
    }
}

/// What the compiler writes as a static.
fn images(dtype: &'static str, rank: usize, variants: Vec<Variant>) -> &'static [Image] {
    let params = vec![tensor("x", dtype, rank, false), tensor("out", "u64", 1, true)];
    let image = Image {
        kernel: "copy_maps",
        instance: "",
        target: Target::Sm80,
        threads: 1,
        cluster: [1; 3],
        programmatic: false,
        params: params.leak(),
        declared: &[],
        reports: None,
        stamps: None,
        variants: variants.leak(),
    };
    vec![image].leak()
}

fn launch<'a, T: Element, const R: usize>(
    images: &'static [Image],
    x: &'a DeviceTensor<T, R>,
    out: &'a mut DeviceTensor<u64, 1>,
) -> Launch<'a> {
    __launch(images, vec![x.into_argument(), out.into_argument()], None).grid(1)
}

/// The maps that a launch with this argument passes to its kernel.
fn passed<T: Element, const R: usize>(
    stream: &Stream,
    maps: &'static [MapInfo],
    x: &DeviceTensor<T, R>,
) -> Result<Vec<[u8; 128]>> {
    let images = images(T::DTYPE, R, vec![variant(R, maps)]);
    let mut out = stream.zeros([16 * maps.len()])?;
    launch(images, x, &mut out).launch(stream)?;
    // What a device has encoded before is passed on again as it was.
    let mut again = stream.zeros([16 * maps.len()])?;
    launch(images, x, &mut again).launch(stream)?;
    let words = out.to_vec(stream)?;
    assert_eq!(words, again.to_vec(stream)?);
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let (maps, rest) = bytes.as_chunks::<128>();
    assert!(rest.is_empty());
    Ok(maps.to_vec())
}

/// A map of `f16` without swizzle, as the encoder is asked for it: extents, strides in bytes, box.
fn required(address: u64, dims: &[u64], strides: &[u64], box_dims: &[u32]) -> TensorMap {
    TensorMap {
        dtype: 6,
        address,
        dims: dims.to_vec(),
        strides_bytes: strides.to_vec(),
        box_dims: box_dims.to_vec(),
        element_strides: vec![1; dims.len()],
        interleave: 0,
        swizzle: 0,
        oob_fill: 0,
    }
}

fn bytes(map: &TensorMap) -> [u8; 128] {
    map.encode().expect("the numbers keep all rules")
}

fn stream() -> Result<Stream> {
    Device::emulator(Target::Sm90a)?.stream()
}

#[test]
fn a_map_has_the_extents_and_strides_of_its_argument() -> Result<()> {
    let stream = stream()?;
    let x = stream.zeros::<f16, 2>([48, 64])?;
    let start = x.device_ptr().address();
    assert_eq!(
        passed(&stream, &[MATRIX], &x)?,
        [bytes(&required(start, &[64, 48], &[128], &[32, 8]))]
    );
    // Rows 5 to 24, columns 8 to 31.
    let window = x.slice(0, 5..25)?.slice(1, 8..32)?;
    assert_eq!(
        passed(&stream, &[MATRIX], &*window)?,
        [bytes(&required(start + 5 * 128 + 16, &[24, 20], &[128], &[32, 8]))]
    );
    // Every third row.
    let thirds = x.as_strided([16, 64], [192, 1])?;
    assert_eq!(
        passed(&stream, &[MATRIX], &*thirds)?,
        [bytes(&required(start, &[64, 16], &[384], &[32, 8]))]
    );
    // One row, many times.
    let repeated = x.as_strided([100, 64], [0, 1])?;
    assert_eq!(
        passed(&stream, &[MATRIX], &*repeated)?,
        [bytes(&required(start, &[64, 100], &[0], &[32, 8]))]
    );
    // Rows that overlap.
    let windows = x.as_strided([100, 64], [8, 1])?;
    assert_eq!(
        passed(&stream, &[MATRIX], &*windows)?,
        [bytes(&required(start, &[64, 100], &[16], &[32, 8]))]
    );
    Ok(())
}

#[test]
fn a_map_may_have_one_to_five_dimensions() -> Result<()> {
    let stream = stream()?;
    let line = stream.zeros::<f16, 1>([1000])?;
    let start = line.device_ptr().address();
    let info = map("f16", const { &[axis(0, 256)] });
    let of_line = vec![info].leak();
    assert_eq!(passed(&stream, of_line, &line)?, [bytes(&required(start, &[1000], &[], &[256]))]);
    let block = stream.zeros::<f16, 5>([2, 3, 4, 5, 8])?;
    let start = block.device_ptr().address();
    let info = map("f16", const { &[axis(4, 8), axis(3, 5), axis(2, 1), axis(1, 3), axis(0, 2)] });
    assert_eq!(
        passed(&stream, vec![info].leak(), &block)?,
        [bytes(&required(start, &[8, 5, 4, 3, 2], &[16, 80, 320, 960], &[8, 5, 1, 3, 2]))]
    );
    Ok(())
}

/// A filter of 3 x 5 taps with a stride, a padding and a dilation of 2 along its rows; and a tensor without images, of which every element that a
/// copy could name is one placeholder.
#[test]
fn a_map_may_go_over_the_places_of_a_filter() -> Result<()> {
    let stream = stream()?;
    let step = MapDim { element_stride: 2, ..axis(1, 1) };
    let dims = vec![axis(3, 16), axis(2, 1), step, axis(0, 1)].leak();
    let places = MapPlaces { count: 64, lower: &[0, -2], upper: &[-4, -2] };
    let info = vec![MapInfo { places: Some(places), ..map("f16", dims) }].leak();
    let x = stream.zeros::<f16, 4>([2, 7, 9, 24])?;
    let start = x.device_ptr().address();
    let tensor = required(start, &[24, 9, 7, 2], &[48, 432, 3024], &[16, 1, 1, 1]);
    let encoded = |tensor| {
        let map = Im2colMap {
            tensor: TensorMap { element_strides: vec![1, 1, 2, 1], ..tensor },
            lower_corner: vec![0, -2],
            upper_corner: vec![-4, -2],
            pixels_per_column: 64,
        };
        map.encode().expect("the numbers keep all rules")
    };
    assert_eq!(passed(&stream, info, &x)?, [encoded(tensor.clone())]);
    let none = stream.zeros::<f16, 4>([0, 7, 9, 24])?;
    let passed = passed(&stream, info, &none)?;
    // Where the placeholder is, nobody says.
    let address = u64::from_le_bytes(*passed[0][8..].first_chunk().expect("eight bytes"));
    let placeholder =
        TensorMap { address, dims: vec![1, 9, 7, 1], strides_bytes: vec![0; 3], ..tensor };
    assert_eq!(passed, [encoded(placeholder)]);
    Ok(())
}

/// The rows of a matrix as tiles of 64 columns, as a 128-byte swizzle of `f16` copies them.
#[test]
fn an_axis_may_become_two_dimensions() -> Result<()> {
    const DIMS: &[MapDim] = &[
        MapDim { extent: MapExtent::Const(64), ..axis(1, 64) },
        axis(0, 8),
        MapDim {
            extent: MapExtent::Axis { axis: 1, divide: 64 },
            stride: MapStride::Axis { axis: 1, times: 64 },
            ..axis(1, 4)
        },
    ];
    const INFO: MapInfo = MapInfo { swizzle_bytes: 128, ..map("f16", DIMS) };
    let stream = stream()?;
    let x = stream.zeros::<f16, 2>([8, 256])?;
    let start = x.device_ptr().address();
    let plain = required(start, &[64, 8, 4], &[512, 128], &[64, 8, 4]);
    assert_eq!(passed(&stream, &[INFO], &x)?, [bytes(&TensorMap { swizzle: 3, ..plain })]);
    Ok(())
}

/// Tiles of 8 rows of a slice: a tile, and each position at which the slice can end, from 8 rows before the tensor on.
#[test]
fn the_map_of_a_slice_begins_a_tile_before_its_tensor() -> Result<()> {
    const DIMS: &[MapDim] = &[
        axis(1, 32),
        MapDim { extent: MapExtent::Tile { axis: 0, elements: 8 }, ..axis(0, 8) },
        MapDim { extent: MapExtent::Ends { axis: 0, elements: 8 }, ..axis(0, 1) },
    ];
    const INFO: MapInfo = map("f16", DIMS);
    let stream = stream()?;
    let x = stream.zeros::<f16, 2>([48, 64])?;
    let start = x.device_ptr().address();
    let rows = required(start - 8 * 128, &[64, 8, 49], &[128, 128], &[32, 8, 1]);
    assert_eq!(passed(&stream, &[INFO], &x)?, [bytes(&rows)]);
    // Nothing is a step away from a row that is alone, whatever its stride: no map has one of 120 bytes.
    let x = stream.zeros::<f16, 2>([48, 60])?;
    let start = x.device_ptr().address();
    let row = required(start - 8 * 16, &[60, 8, 2], &[16, 16], &[32, 8, 1]);
    assert_eq!(passed(&stream, &[INFO], &*x.slice(0, 0..1)?)?, [bytes(&row)]);
    Ok(())
}

/// Elements of the map that are wider than the tensor's: two bytes as one `u16`.
#[test]
fn elements_of_a_map_may_be_wider() -> Result<()> {
    const DIMS: &[MapDim] = &[
        MapDim {
            extent: MapExtent::Axis { axis: 1, divide: 2 },
            stride: MapStride::Axis { axis: 1, times: 2 },
            ..axis(1, 128)
        },
        axis(0, 32),
    ];
    const INFO: MapInfo = map("u16", DIMS);
    let stream = stream()?;
    let x = stream.zeros::<u8, 2>([32, 512])?;
    let required = required(x.device_ptr().address(), &[256, 32], &[512], &[128, 32]);
    assert_eq!(passed(&stream, &[INFO], &x)?, [bytes(&TensorMap { dtype: 1, ..required })]);
    Ok(())
}

/// The numbers of `CUtensorMapDataType` (CUDA Driver API).
#[test]
fn each_element_type_has_the_number_of_the_driver() -> Result<()> {
    fn number<T: Element>(stream: &Stream, dtype: &'static str, number: u32) -> Result<()> {
        let dims = vec![axis(0, 16)];
        let x = stream.zeros::<T, 1>([64])?;
        let required = required(x.device_ptr().address(), &[64], &[], &[16]);
        let passed = passed(stream, vec![map(dtype, dims.leak())].leak(), &x)?;
        assert_eq!(passed, [bytes(&TensorMap { dtype: number, ..required })], "{dtype}");
        Ok(())
    }
    let stream = stream()?;
    for dtype in ["u8", "e4m3", "e5m2", "e2m1x2", "ue8m0"] {
        number::<u8>(&stream, dtype, 0)?;
    }
    number::<i8>(&stream, "i8", 0)?;
    number::<bool>(&stream, "bool", 0)?;
    number::<u16>(&stream, "u16", 1)?;
    number::<i16>(&stream, "i16", 1)?;
    number::<u32>(&stream, "u32", 2)?;
    number::<i32>(&stream, "i32", 3)?;
    number::<u64>(&stream, "u64", 4)?;
    number::<i64>(&stream, "i64", 5)?;
    number::<f16>(&stream, "f16", 6)?;
    number::<f32>(&stream, "f32", 7)?;
    number::<f64>(&stream, "f64", 8)?;
    number::<bf16>(&stream, "bf16", 9)
}

/// Of padded FP4 numbers, two are an element of the tensor; the innermost extent counts numbers.
#[test]
fn a_map_of_padded_numbers_counts_numbers() -> Result<()> {
    let stream = stream()?;
    let x = stream.zeros::<e2m1x2, 2>([48, 192])?;
    let dims = const { &[axis(1, 128), axis(0, 8)] };
    let info = MapInfo { swizzle_bytes: 128, ..map("16u4_align16b", dims) };
    let required = TensorMap {
        dtype: 14,
        swizzle: 3,
        ..required(x.device_ptr().address(), &[384, 48], &[192], &[128, 8])
    };
    assert_eq!(passed(&stream, vec![info].leak(), &x)?, [bytes(&required)]);
    Ok(())
}

/// Of FP6 numbers, sixteen are an element of twelve bytes.
#[test]
fn a_map_of_six_bit_numbers_counts_numbers() -> Result<()> {
    let stream = stream()?;
    let x = stream.zeros::<e2m3x16, 2>([48, 24])?;
    let dims = const { &[axis(1, 128), axis(0, 8)] };
    let info = MapInfo { swizzle_bytes: 128, ..map("16u6_align16b", dims) };
    let required = TensorMap {
        dtype: 15,
        swizzle: 3,
        ..required(x.device_ptr().address(), &[384, 48], &[288], &[128, 8])
    };
    assert_eq!(passed(&stream, vec![info].leak(), &x)?, [bytes(&required)]);
    Ok(())
}

#[test]
fn the_modes_of_a_map_are_passed_on() -> Result<()> {
    let stream = stream()?;
    let x = stream.zeros::<f16, 2>([48, 64])?;
    let plain = required(x.device_ptr().address(), &[64, 48], &[128], &[16, 8]);
    let info = map("f16", const { &[axis(1, 16), axis(0, 8)] });
    for (swizzle_bytes, swizzle) in [(0, 0), (32, 1), (64, 2), (128, 3)] {
        let info = MapInfo { swizzle_bytes, ..info };
        let required = TensorMap { swizzle, ..plain.clone() };
        assert_eq!(passed(&stream, vec![info].leak(), &x)?, [bytes(&required)]);
    }
    let nan = MapInfo { fill: Fill::Nan, ..info };
    let required = TensorMap { oob_fill: 1, ..plain.clone() };
    assert_eq!(passed(&stream, vec![nan].leak(), &x)?, [bytes(&required)]);

    let skipping = const { &[axis(1, 16), MapDim { element_stride: 8, ..axis(0, 8) }] };
    let required = TensorMap { element_strides: vec![1, 8], ..plain };
    assert_eq!(passed(&stream, vec![map("f16", skipping)].leak(), &x)?, [bytes(&required)]);
    Ok(())
}

/// An axis of one element is never stepped along, as for the facts of attributes.
#[test]
fn the_stride_of_a_single_element_breaks_no_rule() -> Result<()> {
    let stream = stream()?;
    let x = stream.zeros::<f16, 2>([48, 65])?;
    let start = x.device_ptr().address();
    // A row of 130 bytes, which is no multiple of 16.
    let row = x.slice(0, 0..1)?;
    assert_eq!(
        passed(&stream, &[MATRIX], &*row)?,
        [bytes(&required(start, &[65, 1], &[16], &[32, 8]))]
    );
    // A column, whose neighbours along axis 1 would be 13 elements apart.
    let column = x.as_strided([48, 1], [8, 13])?;
    assert_eq!(
        passed(&stream, &[MATRIX], &*column)?,
        [bytes(&required(start, &[1, 48], &[16], &[32, 8]))]
    );
    // A stride that no memory has.
    let far = x.as_strided([1, 65], [1 << 50, 1])?;
    assert_eq!(
        passed(&stream, &[MATRIX], &*far)?,
        [bytes(&required(start, &[65, 1], &[16], &[32, 8]))]
    );
    Ok(())
}

#[test]
fn maps_are_passed_in_their_order() -> Result<()> {
    let stream = stream()?;
    let x = stream.zeros::<f16, 2>([48, 64])?;
    let start = x.device_ptr().address();
    let maps = vec![
        map("f16", const { &[axis(1, 64), axis(0, 1)] }),
        MATRIX,
        map("f16", const { &[axis(1, 8), axis(0, 16)] }),
    ];
    let passed = passed(&stream, maps.leak(), &x)?;
    let boxes: [&[u32]; 3] = [&[64, 1], &[32, 8], &[8, 16]];
    assert_eq!(passed, boxes.map(|b| bytes(&required(start, &[64, 48], &[128], b))));
    Ok(())
}

#[test]
fn each_map_describes_its_own_argument() -> Result<()> {
    let stream = stream()?;
    let maps = vec![
        MapInfo { param: 1, ..map("u64", const { &[axis(0, 4)] }) },
        MapInfo { param: 0, ..MATRIX },
    ];
    let x = stream.zeros::<f16, 2>([48, 64])?;
    let mut out = stream.zeros::<u64, 1>([40])?;
    let start = out.device_ptr().address();
    launch(images("f16", 2, vec![variant(2, maps.leak())]), &x, &mut out).launch(&stream)?;
    let passed: Vec<u8> = out.to_vec(&stream)?.iter().flat_map(|word| word.to_le_bytes()).collect();
    let of_out = TensorMap { dtype: 4, ..required(start, &[40], &[], &[4]) };
    assert_eq!(passed[..128], bytes(&of_out));
    let of_x = required(x.device_ptr().address(), &[64, 48], &[128], &[32, 8]);
    assert_eq!(passed[128..256], bytes(&of_x));
    Ok(())
}

/// Only the variant that runs has to be able to describe the argument.
#[test]
fn a_variant_without_maps_takes_what_no_map_describes() -> Result<()> {
    let stream = stream()?;
    let through_map = Variant {
        name: "aligned",
        requires: &[Fact::PointerAligned { param: 0, bytes: 16 }],
        ..variant(2, &[MATRIX])
    };
    let images = images("f16", 2, vec![through_map, variant(2, &[])]);
    let x = stream.zeros::<f16, 2>([48, 64])?;
    for (columns, required) in [(8..40, false), (9..41, true)] {
        let mut out = stream.zeros([16])?;
        launch(images, &*x.slice(1, columns)?, &mut out).launch(&stream)?;
        assert_eq!(out.to_vec(&stream)? == [0; 16], required);
    }
    Ok(())
}

#[test]
fn an_entry_has_to_take_the_maps_of_its_image() -> Result<()> {
    let stream = stream()?;
    let x = stream.zeros::<f16, 2>([48, 64])?;
    let refused = |variant| {
        let mut out = stream.zeros([32]).expect("there is memory");
        let launch = launch(images("f16", 2, vec![variant]), &x, &mut out);
        launch.launch(&stream).expect_err("the parameters differ").to_string()
    };
    let narrow = Variant { ptx: copying(2, 1, 64).leak(), ..variant(2, &[MATRIX]) };
    assert_eq!(
        refused(narrow),
        "`copy_maps` (general) cannot be loaded on emulator for sm_90a: the entry's parameter `map0` has 64 bytes, a tensor map 128"
    );
    let wide = Variant { ptx: copying(2, 1, 256).leak(), ..variant(2, &[MATRIX]) };
    assert!(
        refused(wide).ends_with("the entry's parameter `map0` has 256 bytes, a tensor map 128")
    );
    let missing = Variant { ptx: copying(2, 0, 128).leak(), ..variant(2, &[MATRIX]) };
    assert!(refused(missing).ends_with("the entry has 8 parameters, the signature 9"));
    let one_more = Variant { ptx: copying(2, 2, 128).leak(), ..variant(2, &[MATRIX]) };
    assert!(refused(one_more).ends_with("the entry has 10 parameters, the signature 9"));
    Ok(())
}

mod refused;
