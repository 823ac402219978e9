//! What only a GPU of Hopper can show: copies through tensor maps, clusters, kernels that start early.

use half::f16;
use kernel_runtime::{
    __launch, Argument, Device, Error, Fill, Image, IntoArgument, Launch, MapDim, MapExtent,
    MapInfo, MapStride, ParamInfo, ParamKind, Result, Stream, Target, Variant,
};

use crate::Test;

pub(crate) const TESTS: &[Test] = &[
    ("a_box_is_copied_from_where_the_argument_is", a_box_is_copied_from_where_the_argument_is),
    ("what_a_box_has_outside_of_the_argument_is_filled", what_a_box_has_outside_is_filled),
    ("a_swizzled_box_lies_in_its_pattern", a_swizzled_box_lies_in_its_pattern),
    ("elements_of_a_map_may_be_wider", elements_of_a_map_may_be_wider),
    ("single_rows_and_repeated_rows_are_copied", single_rows_and_repeated_rows_are_copied),
    ("the_driver_takes_every_map_that_keeps_the_rules", the_driver_takes_every_map),
    ("a_cluster_that_the_gpu_does_not_hold", a_cluster_that_the_gpu_does_not_hold),
    ("a_kernel_starts_before_the_one_in_front_of_it_has_ended", a_kernel_starts_early),
    ("a_kernel_that_starts_early_sees_what_came_before", an_early_kernel_sees_what_came_before),
];

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

/// Lets the next kernel start, waits for its signal, for two seconds at most, and writes whether it has come; one thread.
const WAIT_FOR_SIGNAL: &str = r"
.version 8.0
.target sm_90a
.address_size 64

.visible .entry wait_for_signal(
    .param .u64 signal, .param .s32 signal_dim, .param .s64 signal_stride,
    .param .u64 out, .param .s32 out_dim, .param .s64 out_stride
)
{
    .reg .pred %p<4>;
    .reg .b32 %r<3>;
    .reg .b64 %d<6>;
    griddepcontrol.launch_dependents;
    ld.param.u64 %d1, [signal];
    ld.param.u64 %d2, [out];
    mov.u64 %d3, %globaltimer;
WAIT:
    ld.volatile.global.u32 %r1, [%d1];
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra DONE;
    mov.u64 %d4, %globaltimer;
    sub.u64 %d4, %d4, %d3;
    setp.lt.u64 %p2, %d4, 2000000000;
    @%p2 bra WAIT;
DONE:
    st.global.u32 [%d2], %r1;
    ret;
}
";

/// Signals as it starts, and doubles what the kernel in front of it has written when that has ended; one thread.
const SIGNAL: &str = r"
.version 8.0
.target sm_90a
.address_size 64

.visible .entry signal(
    .param .u64 signal, .param .s32 signal_dim, .param .s64 signal_stride,
    .param .u64 out, .param .s32 out_dim, .param .s64 out_stride
)
{
    .reg .b32 %r<3>;
    .reg .b64 %d<3>;
    ld.param.u64 %d1, [signal];
    mov.u32 %r1, 21;
    st.volatile.global.u32 [%d1], %r1;
    griddepcontrol.wait;
    ld.param.u64 %d2, [out];
    ld.global.u32 %r2, [%d2];
    add.u32 %r2, %r2, %r2;
    st.global.u32 [%d2], %r2;
    ret;
}
";

const fn tensor(name: &'static str, dtype: &'static str, rank: usize, mutable: bool) -> ParamInfo {
    ParamInfo { name, kind: ParamKind::Tensor { dtype, rank, mutable } }
}

const fn scalar(name: &'static str) -> ParamInfo {
    ParamInfo { name, kind: ParamKind::Scalar { dtype: "i32" } }
}

const fn variant(entry: &'static str, ptx: &'static str) -> Variant {
    Variant { name: "general", entry, ptx, dynamic_shared_bytes: 0, requires: &[], maps: &[] }
}

const fn image(
    kernel: &'static str,
    params: &'static [ParamInfo],
    variants: &'static [Variant],
) -> Image {
    Image {
        kernel,
        instance: "",
        target: Target::Sm90a,
        threads: 1,
        cluster: [1; 3],
        programmatic: false,
        params,
        declared: &[],
        variants,
    }
}

const SIGNAL_PARAMS: &[ParamInfo] =
    &[tensor("signal", "u32", 1, true), tensor("out", "u32", 1, true)];

static WAITING: [Image; 1] =
    [image("wait_for_signal", SIGNAL_PARAMS, &[variant("wait_for_signal", WAIT_FOR_SIGNAL)])];
static SIGNALLING: [Image; 1] =
    [Image { programmatic: true, ..image("signal", SIGNAL_PARAMS, &[variant("signal", SIGNAL)]) }];
/// More blocks in a cluster than any GPU holds.
static HUGE_CLUSTER: [Image; 1] =
    [Image { cluster: [32, 1, 1], ..image("huge", SIGNAL_PARAMS, &[variant("signal", SIGNAL)]) }];

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
    swizzle_bytes: 0,
    l2_promotion_bytes: 128,
    fill: Fill::Zero,
};

/// What the compiler writes as a static.
fn copy_box(dtype: &'static str, map: MapInfo) -> &'static [Image] {
    let variant = Variant { maps: vec![map].leak(), ..variant("copy_box", COPY_BOX) };
    let params = vec![
        tensor("x", dtype, 2, false),
        tensor("out", dtype, 1, true),
        scalar("row"),
        scalar("column"),
    ];
    vec![image("copy_box", params.leak(), vec![variant].leak())].leak()
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

fn a_box_is_copied_from_where_the_argument_is(device: &Device) -> Result<()> {
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

fn what_a_box_has_outside_is_filled(device: &Device) -> Result<()> {
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
fn a_swizzled_box_lies_in_its_pattern(device: &Device) -> Result<()> {
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

fn elements_of_a_map_may_be_wider(device: &Device) -> Result<()> {
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

fn single_rows_and_repeated_rows_are_copied(device: &Device) -> Result<()> {
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

/// The launch checks the rules in the driver's place: what it lets through, the driver takes. The copy itself stays away, since
/// not all of these boxes have its 1024 bytes.
fn the_driver_takes_every_map(device: &Device) -> Result<()> {
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
    let variant = Variant { maps: vec![map].leak(), ..variant("nothing", NOTHING) };
    let params = vec![tensor("x", dtype, 2, false)];
    let images = vec![image("nothing", params.leak(), vec![variant].leak())].leak();
    __launch(images, vec![x.into_argument()], None).grid(1).launch(stream)
}

fn a_cluster_that_the_gpu_does_not_hold(device: &Device) -> Result<()> {
    let stream = device.stream()?;
    let (mut signal, mut out) = (stream.zeros::<u32, 1>([1])?, stream.zeros::<u32, 1>([1])?);
    let arguments: Vec<Argument<'_>> =
        vec![(&mut signal).into_argument(), (&mut out).into_argument()];
    let error =
        __launch(&HUGE_CLUSTER, arguments, None).grid(32).launch(&stream).expect_err("32 blocks");
    let text = error.to_string();
    let Error::ClusterTooLarge { required: [32, 1, 1], actual, .. } = error else {
        panic!("{text}")
    };
    // 8 blocks are portable, and some GPUs hold 16.
    assert!((8..32).contains(&actual), "{text}");
    Ok(())
}

/// The first kernel ends when it sees the signal of the second, which has to start while the first runs.
fn a_kernel_starts_early(device: &Device) -> Result<()> {
    let stream = device.stream()?;
    let (mut signal, mut out) = (stream.zeros::<u32, 1>([1])?, stream.zeros::<u32, 1>([1])?);
    // What loads the code, and may wait for the device in doing so.
    for images in [&SIGNALLING, &WAITING] {
        pair(images, &mut signal, &mut out).launch(&stream)?;
    }
    stream.fill(&mut signal, 0)?;
    stream.synchronize()?;
    pair(&WAITING, &mut signal, &mut out).launch(&stream)?;
    pair(&SIGNALLING, &mut signal, &mut out).launch(&stream)?;
    assert_eq!(out.to_vec(&stream)?, [42]);
    Ok(())
}

fn pair<'a>(
    images: &'static [Image],
    signal: &'a mut kernel_runtime::DeviceTensor<u32, 1>,
    out: &'a mut kernel_runtime::DeviceTensor<u32, 1>,
) -> Launch<'a> {
    __launch(images, vec![signal.into_argument(), out.into_argument()], None).grid(1)
}

fn an_early_kernel_sees_what_came_before(device: &Device) -> Result<()> {
    let stream = device.stream()?;
    let (mut signal, mut out) = (stream.zeros::<u32, 1>([1])?, stream.zeros::<u32, 1>([1])?);
    stream.fill(&mut out, 3)?;
    // Each doubles what the one before it has left, and may start while that runs.
    for _ in 0..10 {
        pair(&SIGNALLING, &mut signal, &mut out).launch(&stream)?;
    }
    assert_eq!(out.to_vec(&stream)?, [3 << 10]);
    Ok(())
}
