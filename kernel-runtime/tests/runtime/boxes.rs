//! Copies through tensor maps: the box that a kernel asks for is the argument's, on every device.

use crate::devices;
use half::f16;
use kernel_runtime::{
    __launch, Device, Fill, Image, IntoArgument, Launch, MapDim, MapExtent, MapInfo, MapStride,
    ParamInfo, ParamKind, Result, Stream, Target, Variant,
};

/// Copies the box of 1024 bytes at a place through the map, and what then lies in shared memory to `out`; one thread.
const COPY_BOX: &str = r"
.version 8.0
.target sm_90a
.address_size 64

.visible .entry copy_box(
    .param .u64 x, .param .s32 x_dim0, .param .s32 x_dim1, .param .s64 x_stride0, .param .s64 x_stride1,
    .param .u64 out, .param .s32 out_dim, .param .s64 out_stride,
    .param .s32 row, .param .s32 column,
    .param .align 64 .b8 map[128]
)
{
    .shared .align 1024 .b8 tile[1024];
    .shared .align 8 .b64 landed;
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .b64 %d<5>;
    mov.u32 %r1, tile;
    mov.u32 %r2, landed;
    mbarrier.init.shared::cta.b64 [%r2], 1;
    fence.mbarrier_init.release.cluster;
    mov.b64 %d1, map;
    cvta.param.u64 %d1, %d1;
    ld.param.s32 %r3, [row];
    ld.param.s32 %r4, [column];
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 1024;
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
        [%r1], [%d1, {%r4, %r3}], [%r2];
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], 0;
    @!%p1 bra WAIT;
    ld.param.u64 %d2, [out];
    mov.u32 %r5, 0;
NEXT:
    ld.shared.b64 %d3, [%r1];
    st.global.b64 [%d2], %d3;
    add.u32 %r1, %r1, 8;
    add.u64 %d2, %d2, 8;
    add.u32 %r5, %r5, 8;
    setp.lt.u32 %p2, %r5, 1024;
    @%p2 bra NEXT;
    ret;
}
";

const fn tensor(name: &'static str, dtype: &'static str, rank: usize, mutable: bool) -> ParamInfo {
    ParamInfo { name, kind: ParamKind::Tensor { dtype, rank, mutable } }
}

const fn scalar(name: &'static str) -> ParamInfo {
    ParamInfo { name, kind: ParamKind::Scalar { dtype: "i32" } }
}

/// A kernel of one thread, as the compiler writes it.
fn image(
    entry: &'static str,
    ptx: &'static str,
    params: Vec<ParamInfo>,
    map: MapInfo,
) -> &'static [Image] {
    let variant = Variant {
        name: "general",
        entry,
        ptx,
        dynamic_shared_bytes: 0,
        cubins: &[],
        tensor_columns: 0,
        requires: &[],
        maps: vec![map].leak(),
        names: None,
    };
    let image = Image {
        kernel: entry,
        instance: "",
        target: Target::Sm90a,
        threads: 1,
        cluster: [1; 3],
        programmatic: false,
        params: params.leak(),
        declared: &[],
        reports: None,
        stamps: None,
        variants: vec![variant].leak(),
    };
    vec![image].leak()
}

/// An axis of the tensor as it is.
const fn axis(axis: usize, box_elems: u32) -> MapDim {
    MapDim {
        extent: MapExtent::Axis { axis, divide: 1 },
        stride: MapStride::Axis { axis, times: 1 },
        box_elems,
        element_stride: 1,
    }
}

/// A row-major matrix of `f16` in boxes of 8 rows and 64 columns.
const MATRIX: MapInfo = MapInfo {
    param: 0,
    dtype: "f16",
    dims: &[axis(1, 64), axis(0, 8)],
    places: None,
    swizzle_bytes: 0,
    l2_promotion_bytes: 128,
    fill: Fill::Zero,
    written: false,
};

fn copy_box(dtype: &'static str, map: MapInfo) -> &'static [Image] {
    let params = vec![
        tensor("x", dtype, 2, false),
        tensor("out", dtype, 1, true),
        scalar("row"),
        scalar("column"),
    ];
    image("copy_box", COPY_BOX, params, map)
}

fn launch<'a>(
    images: &'static [Image],
    x: impl IntoArgument<'a>,
    out: impl IntoArgument<'a>,
    [row, column]: [i32; 2],
) -> Launch<'a> {
    let scalars = [row, column].map(IntoArgument::into_argument);
    let arguments = [x.into_argument(), out.into_argument()].into_iter().chain(scalars).collect();
    __launch(images, arguments, None).grid(1)
}

/// `f16` values that tell rows and columns apart: exact up to 2048.
fn values(rows: u16, columns: u16) -> Vec<f16> {
    (0..rows * columns).map(|i| f16::from_f32(f32::from(i % 2039))).collect()
}

/// The box of [`MATRIX`] at (row, column) of a matrix, as it lies in shared memory without swizzle.
fn box_of(at: impl Fn(i32, i32) -> f16, [row, column]: [i32; 2]) -> Vec<f16> {
    (0..8)
        .flat_map(|i| (0..64).map(move |j| (row + i, column + j)))
        .map(|(i, j)| at(i, j))
        .collect()
}

#[test]
fn a_box_is_copied_from_where_the_argument_is() -> Result<()> {
    devices::with(Target::Sm90a)?.iter().try_for_each(a_box_is_copied_from_where_the_argument_is_on)
}

fn a_box_is_copied_from_where_the_argument_is_on(device: &Device) -> Result<()> {
    let (stream, images) = (device.stream()?, copy_box("f16", MATRIX));
    let host = values(20, 96);
    let x = stream.upload(&host, [20, 96])?;
    let mut out = stream.zeros::<f16, 1>([512])?;
    launch(images, &x, &mut out, [5, 16]).launch(&stream)?;
    let at = |i: i32, j: i32| host[usize::try_from(96 * i + j).expect("the box is inside")];
    assert_eq!(out.to_vec(&stream)?, box_of(at, [5, 16]));
    // The same box of a window, twice, that the map is kept, and of every second row.
    let window = x.slice(0, 3..20)?.slice(1, 8..96)?;
    for _ in 0..2 {
        launch(images, &*window, &mut out, [2, 8]).launch(&stream)?;
        assert_eq!(out.to_vec(&stream)?, box_of(at, [5, 16]));
    }
    let every_second = x.as_strided([10, 96], [192, 1])?;
    launch(images, &*every_second, &mut out, [1, 32]).launch(&stream)?;
    assert_eq!(out.to_vec(&stream)?, box_of(|i, j| at(2 * i, j), [1, 32]));
    Ok(())
}

#[test]
fn what_a_box_has_outside_is_filled() -> Result<()> {
    devices::with(Target::Sm90a)?.iter().try_for_each(what_a_box_has_outside_is_filled_on)
}

fn what_a_box_has_outside_is_filled_on(device: &Device) -> Result<()> {
    let stream = device.stream()?;
    let host = values(12, 80);
    let x = stream.upload(&host, [12, 80])?;
    let mut out = stream.zeros::<f16, 1>([512])?;
    // 10 of the rows and 70 of the columns.
    let window = x.slice(0, 0..10)?.slice(1, 0..70)?;
    for (fill, outside) in [(Fill::Zero, f16::ZERO), (Fill::Nan, f16::NAN)] {
        let images = copy_box("f16", MapInfo { fill, ..MATRIX });
        for place in [[6, 16], [-3, -8], [0, 64], [100, 0]] {
            launch(images, &*window, &mut out, place).launch(&stream)?;
            let at = |i: i32, j: i32| match (usize::try_from(i), usize::try_from(j)) {
                (Ok(i @ 0..10), Ok(j @ 0..70)) => host[80 * i + j],
                _ => outside,
            };
            // Every NaN is written with some bits; which ones no manual says.
            let numbers = |values: Vec<f16>| -> Vec<Option<f16>> {
                values.into_iter().map(|value| (!value.is_nan()).then_some(value)).collect()
            };
            assert_eq!(
                numbers(out.to_vec(&stream)?),
                numbers(box_of(at, place)),
                "{fill:?} {place:?}"
            );
        }
    }
    Ok(())
}

/// The 16 bytes at an offset of a 128-byte pattern are those of another row's column (PTX ISA, "Swizzling modes").
#[test]
fn a_swizzled_box_lies_in_its_pattern() -> Result<()> {
    devices::with(Target::Sm90a)?.iter().try_for_each(a_swizzled_box_lies_in_its_pattern_on)
}

fn a_swizzled_box_lies_in_its_pattern_on(device: &Device) -> Result<()> {
    let stream = device.stream()?;
    let images = copy_box("f16", MapInfo { swizzle_bytes: 128, ..MATRIX });
    let host = values(16, 64);
    let x = stream.upload(&host, [16, 64])?;
    let mut out = stream.zeros::<f16, 1>([512])?;
    launch(images, &x, &mut out, [8, 0]).launch(&stream)?;
    let mut required = vec![f16::ZERO; 512];
    for (index, value) in host[512..].iter().enumerate() {
        let offset = 2 * index;
        required[(offset ^ (offset >> 3 & 0x70)) / 2] = *value;
    }
    assert_eq!(out.to_vec(&stream)?, required);
    Ok(())
}

#[test]
fn elements_of_a_map_may_be_wider() -> Result<()> {
    devices::with(Target::Sm90a)?.iter().try_for_each(elements_of_a_map_may_be_wider_on)
}

fn elements_of_a_map_may_be_wider_on(device: &Device) -> Result<()> {
    const PAIRS: MapDim = MapDim {
        extent: MapExtent::Axis { axis: 1, divide: 2 },
        stride: MapStride::Axis { axis: 1, times: 2 },
        ..axis(1, 64)
    };
    let stream = device.stream()?;
    let images =
        copy_box("u8", MapInfo { dtype: "u16", dims: const { &[PAIRS, axis(0, 8)] }, ..MATRIX });
    let host: Vec<u8> = (0..20 * 256_u32).map(|i| u8::try_from(i * 7 % 251).unwrap_or(0)).collect();
    let x = stream.upload(&host, [20, 256])?;
    let mut out = stream.zeros::<u8, 1>([1024])?;
    // Column 40 of pairs is column 80 of bytes.
    launch(images, &x, &mut out, [11, 40]).launch(&stream)?;
    let rows = (11..19).flat_map(|i| host[256 * i + 80..][..128].iter().copied());
    assert_eq!(out.to_vec(&stream)?, rows.collect::<Vec<u8>>());
    Ok(())
}

#[test]
fn single_rows_and_repeated_rows_are_copied() -> Result<()> {
    devices::with(Target::Sm90a)?.iter().try_for_each(single_rows_and_repeated_rows_are_copied_on)
}

fn single_rows_and_repeated_rows_are_copied_on(device: &Device) -> Result<()> {
    let (stream, images) = (device.stream()?, copy_box("f16", MATRIX));
    let host = values(4, 72);
    let x = stream.upload(&host, [4, 72])?;
    let mut out = stream.zeros::<f16, 1>([512])?;
    // One row of 65 columns, 71 elements from the next one: no stride of a map.
    let row = x.as_strided([1, 65], [71, 1])?;
    launch(images, &*row, &mut out, [0, 0]).launch(&stream)?;
    let at = |i: i32, j: i32| match (i, usize::try_from(j)) {
        (0, Ok(j @ 0..65)) => host[j],
        _ => f16::ZERO,
    };
    assert_eq!(out.to_vec(&stream)?, box_of(at, [0, 0]));
    let repeated = x.as_strided([100, 72], [0, 1])?;
    launch(images, &*repeated, &mut out, [90, 8]).launch(&stream)?;
    let at = |_, j: i32| host[usize::try_from(j).expect("the box is inside")];
    assert_eq!(out.to_vec(&stream)?, box_of(at, [90, 8]));
    Ok(())
}

/// The launch checks the rules in the driver's place: what it lets through, the driver takes.
#[test]
fn the_device_takes_every_map_that_keeps_the_rules() -> Result<()> {
    devices::with(Target::Sm90a)?.iter().try_for_each(every_map_on)
}

fn every_map_on(device: &Device) -> Result<()> {
    let stream = device.stream()?;
    let x = stream.zeros::<f16, 2>([512, 512])?;
    let bytes = stream.zeros::<u8, 2>([512, 512])?;
    let with = |dims: Vec<MapDim>| MapInfo { dims: dims.leak(), ..MATRIX };
    let mut maps = vec![
        with(vec![axis(1, 256), axis(0, 256)]),
        with(vec![axis(1, 8), axis(0, 1)]),
        with(vec![axis(1, 512 / 2)]),
        with(vec![axis(1, 8), MapDim { element_stride: 8, ..axis(0, 8) }]),
        with(vec![axis(1, 8), MapDim { stride: MapStride::Elements(0), ..axis(0, 8) }]),
        with(vec![
            MapDim { extent: MapExtent::Const(8), ..axis(1, 8) },
            axis(0, 4),
            MapDim {
                extent: MapExtent::Axis { axis: 1, divide: 64 },
                stride: MapStride::Axis { axis: 1, times: 64 },
                ..axis(1, 2)
            },
            MapDim { extent: MapExtent::Const(8), stride: MapStride::Elements(8), ..axis(1, 1) },
            MapDim { extent: MapExtent::Const(1), stride: MapStride::Elements(3), ..axis(1, 1) },
        ]),
        with(vec![
            axis(1, 8),
            MapDim {
                extent: MapExtent::Const(1 << 32),
                stride: MapStride::Elements(0),
                ..axis(0, 8)
            },
        ]),
    ];
    for (swizzle_bytes, columns) in [(32, 16), (64, 32), (128, 64), (128, 8), (64, 16)] {
        maps.push(MapInfo { swizzle_bytes, ..with(vec![axis(1, columns), axis(0, 8)]) });
    }
    for l2_promotion_bytes in [0, 64, 128, 256] {
        maps.push(MapInfo { l2_promotion_bytes, ..MATRIX });
    }
    for map in maps {
        encoded(&stream, map, "f16", &x)?;
    }
    let of_bytes =
        |dtype| MapInfo { dtype, dims: const { &[axis(1, 256), axis(0, 256)] }, ..MATRIX };
    encoded(&stream, of_bytes("u8"), "u8", &bytes)?;
    encoded(&stream, of_bytes("e4m3"), "u8", &bytes)
}

/// Launches a kernel that has a map and does nothing with it.
fn encoded<'a>(
    stream: &Stream,
    map: MapInfo,
    dtype: &'static str,
    x: impl IntoArgument<'a>,
) -> Result<()> {
    const NOTHING: &str = r"
.version 8.0
.target sm_90a
.address_size 64
.visible .entry nothing(
    .param .u64 x, .param .s32 x_dim0, .param .s32 x_dim1, .param .s64 x_stride0, .param .s64 x_stride1,
    .param .align 64 .b8 map[128]
)
{
    ret;
}
";
    let images = image("nothing", NOTHING, vec![tensor("x", dtype, 2, false)], map);
    __launch(images, vec![x.into_argument()], None).grid(1).launch(stream)
}
