//! What only a GPU of Hopper can show: clusters that it does not hold, kernels that start early.

use kernel_runtime::{
    __launch, Device, DeviceTensor, Error, Image, IntoArgument, Launch, ParamInfo, ParamKind,
    Result, Target, Variant,
};

use crate::Test;

pub(crate) const TESTS: &[Test] = &[
    ("a_cluster_that_the_gpu_does_not_hold", a_cluster_that_the_gpu_does_not_hold),
    ("a_kernel_starts_before_the_one_in_front_of_it_has_ended", a_kernel_starts_early),
    ("a_kernel_that_starts_early_sees_what_came_before", an_early_kernel_sees_what_came_before),
];

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

const fn tensor(name: &'static str) -> ParamInfo {
    ParamInfo { name, kind: ParamKind::Tensor { dtype: "u32", rank: 1, mutable: true } }
}

const fn variant(entry: &'static str, ptx: &'static str) -> Variant {
    Variant {
        name: "general",
        entry,
        ptx,
        dynamic_shared_bytes: 0,
        cubins: &[],
        tensor_columns: 0,
        requires: &[],
        maps: &[],
        names: None,
    }
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
        reports: None,
        stamps: None,
        variants,
    }
}

const SIGNAL_PARAMS: &[ParamInfo] = &[tensor("signal"), tensor("out")];

static WAITING: [Image; 1] =
    [image("wait_for_signal", SIGNAL_PARAMS, &[variant("wait_for_signal", WAIT_FOR_SIGNAL)])];
static SIGNALLING: [Image; 1] =
    [Image { programmatic: true, ..image("signal", SIGNAL_PARAMS, &[variant("signal", SIGNAL)]) }];
/// More blocks in a cluster than any GPU holds.
static HUGE_CLUSTER: [Image; 1] =
    [Image { cluster: [32, 1, 1], ..image("huge", SIGNAL_PARAMS, &[variant("signal", SIGNAL)]) }];

fn a_cluster_that_the_gpu_does_not_hold(device: &Device) -> Result<()> {
    let stream = device.stream()?;
    let (mut signal, mut out) = (stream.zeros::<u32, 1>([1])?, stream.zeros::<u32, 1>([1])?);
    let launch = pair(&HUGE_CLUSTER, &mut signal, &mut out).grid(32);
    let error = launch.launch(&stream).expect_err("32 blocks");
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
    signal: &'a mut DeviceTensor<u32, 1>,
    out: &'a mut DeviceTensor<u32, 1>,
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
