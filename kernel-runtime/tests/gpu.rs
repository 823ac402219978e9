//! What only a GPU can show: pending work, the driver's refusals and its compiler's log. Each test runs
//! on the first GPU; where there is none, each is listed as ignored, and a line says why.
#![expect(clippy::print_stderr, reason = "what is left out has to be said")]

use std::process::ExitCode;

use kernel_runtime::{
    __launch, Device, DeviceTensor, Error, Image, IntoArgument, Launch, ParamInfo, ParamKind,
    Result, Stream, Target, Variant,
};
use libtest_mimic::{Arguments, Failed, Trial};

#[path = "gpu/comm.rs"]
mod comm;
#[path = "gpu/hopper.rs"]
mod hopper;
#[path = "gpu/interop.rs"]
#[expect(unsafe_code, reason = "memory is handed over as another library would")]
mod interop;
#[path = "runtime/kernels.rs"]
#[expect(dead_code, reason = "the tests on the emulator use the others")]
mod kernels;
#[path = "gpu/peers.rs"]
#[expect(unsafe_code, reason = "memory is handed over as another library would")]
mod peers;
use kernels::{Args, scaled_sum};

/// A test, by its name.
type Test = (&'static str, fn(&Device) -> Result<()>);

const TESTS: &[Test] = &[
    ("events_measure_the_time_of_the_gpu", events_measure_the_time_of_the_gpu),
    ("uses_on_several_streams_keep_their_order", uses_on_several_streams_keep_their_order),
    ("memory_outlives_the_work_on_it", memory_outlives_the_work_on_it),
    ("a_stream_can_be_dropped_with_work_on_it", a_stream_can_be_dropped_with_work_on_it),
    ("one_gpu_is_one_device", one_gpu_is_one_device),
    ("limits_of_the_gpu_are_errors", limits_of_the_gpu_are_errors),
    ("the_driver_says_why_it_does_not_load_code", the_driver_says_why_it_does_not_load_code),
];

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let device = Device::cuda(0).map_err(|reason| reason.to_string());
    if let (Err(reason), false) = (&device, args.list) {
        let count = TESTS.len()
            + interop::TESTS.len()
            + hopper::TESTS.len()
            + comm::TESTS.len()
            + peers::TESTS.len()
            + peers::NCCL_TESTS.len();
        eprintln!("gpu: skipped, no device, for {count} tests: {reason}");
    }
    let hopper = device.clone().and_then(|device| {
        let runs = device.runs(Target::Sm90a);
        if runs { Ok(device) } else { Err(format!("{device} does not run sm_90a")) }
    });
    if let (Ok(_), Err(reason), false) = (&device, &hopper, args.list) {
        eprintln!("gpu: skipped, no device, for {} tests: {reason}", hopper::TESTS.len());
    }
    let nccl = device.clone().and_then(|device| match comm::missing(&device) {
        None => Ok(device),
        Some(reason) => Err(reason),
    });
    if let (Ok(_), Err(reason), false) = (&device, &nccl, args.list) {
        eprintln!("gpu: skipped, no NCCL, for {} tests: {reason}", comm::TESTS.len());
    }
    let two = device.clone().and_then(|device| peers::missing().map_or(Ok(device), Err));
    let count = peers::TESTS.len() + peers::NCCL_TESTS.len();
    if let (Ok(_), Err(reason), false) = (&device, &two, args.list) {
        eprintln!("gpu: skipped, no device, for {count} tests: {reason}");
    }
    let two_with_nccl = two.clone().and(nccl.clone());
    if let (Ok(_), Err(reason), false) = (&two, &two_with_nccl, args.list) {
        eprintln!("gpu: skipped, no NCCL, for {} tests: {reason}", peers::NCCL_TESTS.len());
    }
    let anywhere = TESTS.iter().chain(interop::TESTS).map(|test| trial(test, &device));
    let trials = anywhere
        .chain(hopper::TESTS.iter().map(|test| trial(test, &hopper)))
        .chain(comm::TESTS.iter().map(|test| trial(test, &nccl)))
        .chain(peers::TESTS.iter().map(|test| trial(test, &two)))
        .chain(peers::NCCL_TESTS.iter().map(|test| trial(test, &two_with_nccl)));
    libtest_mimic::run(&args, trials.collect()).exit_code()
}

/// The test on its device, or ignored without one.
fn trial((name, test): &'static Test, device: &Result<Device, String>) -> Trial {
    let device = device.clone();
    let present = device.is_ok();
    let run = move || test(&device?).map_err(|error| Failed::from(error.to_string()));
    let kind = if present { "" } else { "skipped, no device" };
    Trial::test(*name, run).with_kind(kind).with_ignored_flag(!present)
}

/// Waits for so many nanoseconds, then writes a value to each element; one thread.
const SLOW_FILL: &str = r"
.version 7.0
.target sm_80
.address_size 64

.visible .entry slow_fill(
    .param .u64 out, .param .s32 out_dim, .param .s64 out_stride,
    .param .s64 nanoseconds, .param .u32 value
)
{
    .reg .pred %p<3>;
    .reg .b32 %r<4>;
    .reg .b64 %d<7>;
    ld.param.s64 %d1, [nanoseconds];
    mov.u64 %d2, %globaltimer;
WAIT:
    mov.u64 %d3, %globaltimer;
    sub.s64 %d3, %d3, %d2;
    setp.lt.s64 %p1, %d3, %d1;
    @%p1 bra WAIT;
    ld.param.u64 %d4, [out];
    ld.param.s64 %d5, [out_stride];
    shl.b64 %d5, %d5, 2;
    ld.param.s32 %r1, [out_dim];
    ld.param.u32 %r2, [value];
NEXT:
    st.global.u32 [%d4], %r2;
    add.s64 %d4, %d4, %d5;
    sub.s32 %r1, %r1, 1;
    setp.gt.s32 %p2, %r1, 0;
    @%p2 bra NEXT;
    ret;
}
";

/// Does nothing, of the newest PTX that will ever be.
const FUTURE: &str = ".version 99.0\n.target sm_80\n.address_size 64\n";

/// Uses a register that it does not declare.
const UNDECLARED: &str = r"
.version 7.0
.target sm_80
.address_size 64
.visible .entry undeclared(.param .u64 out, .param .s32 out_dim, .param .s64 out_stride)
{
    mov.u32 %not_there, 1;
    ret;
}
";

const OUT: ParamInfo =
    ParamInfo { name: "out", kind: ParamKind::Tensor { dtype: "u32", rank: 1, mutable: true } };

const fn image(
    kernel: &'static str,
    threads: u32,
    params: &'static [ParamInfo],
    variants: &'static [Variant],
) -> Image {
    Image {
        kernel,
        instance: "",
        target: Target::Sm80,
        threads,
        cluster: [1; 3],
        programmatic: false,
        params,
        declared: &[],
        reports: None,
        stamps: None,
        variants,
    }
}

const fn variant(entry: &'static str, ptx: &'static str, dynamic_shared_bytes: u32) -> Variant {
    Variant {
        name: "general",
        entry,
        ptx,
        dynamic_shared_bytes,
        cubins: &[],
        tensor_columns: 0,
        requires: &[],
        maps: &[],
        names: None,
    }
}

const SLOW_PARAMS: &[ParamInfo] = &[
    OUT,
    ParamInfo { name: "nanoseconds", kind: ParamKind::Scalar { dtype: "i64" } },
    ParamInfo { name: "value", kind: ParamKind::Scalar { dtype: "u32" } },
];

static SLOW: [Image; 1] =
    [image("slow_fill", 1, SLOW_PARAMS, &[variant("slow_fill", SLOW_FILL, 0)])];
static GREEDY: [Image; 1] =
    [image("greedy", 1, SLOW_PARAMS, &[variant("slow_fill", SLOW_FILL, 1 << 20)])];
static CROWD: [Image; 1] =
    [image("crowd", 2048, SLOW_PARAMS, &[variant("slow_fill", SLOW_FILL, 0)])];
static NEW: [Image; 1] = [image("future", 1, &[OUT], &[variant("future", FUTURE, 0)])];
static BROKEN: [Image; 1] = [image("broken", 1, &[OUT], &[variant("undeclared", UNDECLARED, 0)])];
static ABSENT: [Image; 1] = [image("absent", 1, SLOW_PARAMS, &[variant("no", SLOW_FILL, 0)])];

/// Long enough for the host to run ahead.
const PAUSE: i64 = 50_000_000;

fn slow_fill<'a>(
    images: &'static [Image],
    out: &'a mut DeviceTensor<u32, 1>,
    nanoseconds: i64,
    value: u32,
) -> Launch<'a> {
    let arguments = vec![out.into_argument(), nanoseconds.into_argument(), value.into_argument()];
    __launch(images, arguments, None).grid(1)
}

fn write_only(images: &'static [Image], stream: &Stream) -> Result<()> {
    let mut out = stream.zeros::<u32, 1>([4])?;
    __launch(images, vec![(&mut out).into_argument()], None).grid(1).launch(stream)
}

fn events_measure_the_time_of_the_gpu(device: &Device) -> Result<()> {
    let stream = device.stream()?;
    let mut out = stream.zeros([4])?;
    let start = stream.record()?;
    slow_fill(&SLOW, &mut out, PAUSE, 2).launch(&stream)?;
    let end = stream.record()?;
    end.synchronize()?;
    assert!(end.is_done()?);
    assert!(start.elapsed_ms(&end)? >= 50.0);
    Ok(())
}

fn uses_on_several_streams_keep_their_order(device: &Device) -> Result<()> {
    let (one, two, three) = (device.stream()?, device.stream()?, device.stream()?);
    let mut out = one.zeros([1000])?;
    // Write after write, read after write, write after read.
    slow_fill(&SLOW, &mut out, PAUSE, 1).launch(&one)?;
    slow_fill(&SLOW, &mut out, PAUSE, 2).launch(&two)?;
    let mut copy = three.empty([1000])?;
    three.copy(&out, &mut copy)?;
    slow_fill(&SLOW, &mut out, 1, 3).launch(&one)?;
    assert_eq!(copy.to_vec(&two)?, [2; 1000]);
    assert_eq!(out.to_vec(&three)?, [3; 1000]);
    Ok(())
}

fn memory_outlives_the_work_on_it(device: &Device) -> Result<()> {
    let (home, other) = (device.stream()?, device.stream()?);
    for value in 0..20 {
        let mut dropped = home.zeros([100_000])?;
        slow_fill(&SLOW, &mut dropped, 1_000_000, u32::MAX).launch(&other)?;
        drop(dropped);
        // The driver may give the same memory out again, once the kernel is done with it.
        let fresh = home.full([100_000], value)?;
        assert_eq!(fresh.to_vec(&home)?, vec![value; 100_000]);
    }
    Ok(())
}

fn a_stream_can_be_dropped_with_work_on_it(device: &Device) -> Result<()> {
    let mut out = device.stream()?.zeros([10])?;
    {
        let stream = device.stream()?;
        slow_fill(&SLOW, &mut out, PAUSE, 5).launch(&stream)?;
    }
    assert_eq!(out.to_vec(&device.stream()?)?, [5; 10]);
    Ok(())
}

fn one_gpu_is_one_device(device: &Device) -> Result<()> {
    assert_eq!(*device, Device::cuda(0)?);
    assert!(!device.is_emulator());
    assert!(device.to_string().starts_with("cuda:0 "), "{device}");
    assert!(device.properties().multiprocessors > 0);
    if device.runs(Target::Sm80) && std::env::var_os("KILN_DEVICE").is_none() {
        let chosen = Device::best_for(&[Target::Sm80])?;
        assert!(!chosen.is_emulator());
        assert!(chosen.to_string().ends_with("(runs sm_80)"), "{chosen}");
    }
    // A tensor made by a thread of its own, and used here.
    let a = std::thread::spawn(|| Device::cuda(0)?.stream()?.upload(&[1.0f32, 2.0], [2]))
        .join()
        .expect("the thread does not panic")?;
    let stream = device.stream()?;
    let mut c = stream.empty([2])?;
    scaled_sum(Args { a: &a, b: &a, c: &mut c, scale: 2.0, negate: false }).launch(&stream)?;
    assert_eq!(c.to_vec(&stream)?, [3.0, 6.0]);
    Ok(())
}

fn limits_of_the_gpu_are_errors(device: &Device) -> Result<()> {
    let stream = device.stream()?;
    let mut out = stream.zeros([4])?;
    let limit = u64::from(device.properties().shared_bytes_per_block);
    let error = slow_fill(&GREEDY, &mut out, 1, 1).launch(&stream).expect_err("1 MiB");
    let Error::SharedMemory { required, actual, .. } = error else { panic!("{error:?}") };
    assert_eq!((required, actual), (1 << 20, limit));
    let error = slow_fill(&CROWD, &mut out, 1, 1).launch(&stream).expect_err("2048 threads");
    assert!(
        matches!(error, Error::BlockTooLarge { required: 2048, actual: 1024, .. }),
        "{error:?}"
    );
    let error = stream.empty::<u8, 1>([1 << 50]).expect_err("a pebibyte");
    assert!(
        matches!(error, Error::OutOfMemory { required, .. } if required == 1 << 50),
        "{error:?}"
    );
    // Nothing of this was sticky.
    slow_fill(&SLOW, &mut out, 1, 9).launch(&stream)?;
    assert_eq!(out.to_vec(&stream)?, [9; 4]);
    Ok(())
}

fn the_driver_says_why_it_does_not_load_code(device: &Device) -> Result<()> {
    let stream = device.stream()?;
    let error = write_only(&BROKEN, &stream).expect_err("an undeclared register");
    assert!(error.to_string().contains("not_there"), "{error}");
    let Error::ModuleLoad { kernel: "broken", log, .. } = error else { panic!("{error:?}") };
    assert!(log.contains("ptxas"), "{log}");

    let error = write_only(&NEW, &stream).expect_err("PTX 99.0");
    let Error::DriverTooOld { needed_by, required, actual } = error else { panic!("{error:?}") };
    assert_eq!(needed_by, "`future`, in PTX 99.0,");
    assert_eq!((required.major, required.minor), (103, 0));
    assert!(actual.major >= 11);

    let mut out = stream.zeros([4])?;
    let error = slow_fill(&ABSENT, &mut out, 1, 1).launch(&stream).expect_err("no such entry");
    let Error::ModuleLoad { cause, .. } = error else { panic!("{error:?}") };
    assert!(cause.contains("CUDA_ERROR_NOT_FOUND"), "{cause}");
    Ok(())
}
