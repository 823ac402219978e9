//! Launches that are refused, with the error that says why; and that nothing has run.

use crate::kernels::{
    Args, COUNT_BLOCKS_IMAGES, CROWDED_IMAGES, GARBAGE_IMAGES, GREEDY_IMAGES, HOPPER_IMAGES,
    NO_ENTRY_IMAGES, OVERRUN_IMAGES, SCALED_SUM_IMAGES, STALE_IMAGES, scaled_sum, write_one,
};
use kernel_runtime::{
    __launch, Device, DeviceTensor, Error, IntoArgument, ParamKind, Result, Stream, Target,
    persistent,
};

fn stream() -> Result<Stream> {
    Device::emulator(Target::Sm80)?.stream()
}

/// Launches `scaled_sum` and says why it was refused.
fn refusal(
    stream: &Stream,
    a: &DeviceTensor<f32, 1>,
    b: &DeviceTensor<f32, 1>,
    c: &mut DeviceTensor<f32, 1>,
) -> Error {
    let launch = scaled_sum(Args { a, b, c, scale: 1.0, negate: false });
    let error = launch.launch(stream).expect_err("the launch has to be refused");
    assert!(stream.device().emulator_report().is_none(), "nothing has run");
    error
}

#[test]
fn a_target_that_the_device_cannot_run() -> Result<()> {
    let stream = stream()?;
    let mut out = stream.zeros::<u32, 1>([1])?;
    let error = write_one(&HOPPER_IMAGES, &mut out, 1).launch(&stream).expect_err("sm_90a");
    assert_eq!(
        error.to_string(),
        "`hopper` was compiled for sm_90a; emulator for sm_80 runs none of them"
    );
    assert!(matches!(error, Error::TargetNotRunnable { kernel: "hopper", .. }));
    Ok(())
}

#[test]
fn an_argument_on_another_device() -> Result<()> {
    let (here, there) = (stream()?, Device::emulator(Target::Sm100a)?.stream()?);
    let (a, b) = (here.zeros([4])?, there.zeros([4])?);
    let mut c = here.zeros([4])?;
    let error = refusal(&here, &a, &b, &mut c);
    assert_eq!(
        error.to_string(),
        "`scaled_sum`: argument `b` is on emulator for sm_100a, the stream on emulator for sm_80"
    );
    assert!(matches!(error, Error::WrongDevice { argument: "b", .. }));
    let twin = stream()?;
    let b = twin.zeros([4])?;
    assert_eq!(
        refusal(&here, &a, &b, &mut c).to_string(),
        "`scaled_sum`: argument `b` is on another emulator for sm_80, the stream on emulator for sm_80"
    );
    assert_eq!(
        b.to_vec(&here).expect_err("the tensor is of the other emulator").to_string(),
        "to_vec: the tensor is on another emulator for sm_80, the stream on emulator for sm_80"
    );
    Ok(())
}

#[test]
fn a_pointer_to_another_device() -> Result<()> {
    use crate::kernels::POKE_IMAGES;
    let (here, there) = (stream()?, stream()?);
    let out = there.zeros::<i64, 1>([1])?;
    let arguments = vec![out.device_ptr().into_argument(), 1i64.into_argument()];
    let launch = kernel_runtime::__launch_unsafe(&POKE_IMAGES, arguments, None).grid(1);
    // SAFETY: the launch is refused.
    let error = unsafe { launch.launch(&here) }.expect_err("the pointer is of another device");
    assert!(matches!(error, Error::WrongDevice { argument: "p", .. }), "{error:?}");
    Ok(())
}

#[test]
fn an_argument_without_elements_is_as_good_as_any() -> Result<()> {
    let stream = stream()?;
    let (a, b) = (stream.zeros([4])?, stream.zeros([0])?);
    // No block of the kernel's finds an element to write.
    scaled_sum(Args { a: &a, b: &b, c: &mut stream.zeros([0])?, scale: 1.0, negate: false })
        .grid(2)
        .launch(&stream)?;
    // Here it reads behind the end of `b`, which is the kernel's mistake, and the emulator's to find.
    let mut c = stream.zeros([4])?;
    let args = Args { a: &a, b: &b, c: &mut c, scale: 1.0, negate: false };
    let error = scaled_sum(args).launch(&stream).expect_err("there is no element to read");
    assert!(matches!(error, Error::Fault { .. }), "{error}");
    Ok(())
}

#[test]
fn a_grid_without_blocks_is_nothing_to_do() -> Result<()> {
    let stream = stream()?;
    let mut out = stream.full([1], 5u32)?;
    for grid in [[0, 1, 1], [1, 0, 1], [3, 2, 0]] {
        write_one(&COUNT_BLOCKS_IMAGES, &mut out, 1).grid(grid).launch(&stream)?;
    }
    write_one(&COUNT_BLOCKS_IMAGES, &mut out, 1).grid(persistent(0)).launch(&stream)?;
    assert_eq!(out.to_vec(&stream)?, [5]);
    Ok(())
}

fn cooperative(out: &mut DeviceTensor<u32, 1>, blocks: i32) -> kernel_runtime::Launch<'_> {
    write_one(&COUNT_BLOCKS_IMAGES, out, blocks).cooperative()
}

#[test]
fn a_cooperative_grid_has_to_fit_the_device() -> Result<()> {
    let stream = stream()?;
    let mut out = stream.zeros::<u32, 1>([4000])?;
    // 108 multiprocessors of 32 blocks.
    let resources = cooperative(&mut out, 1).resources(stream.device())?;
    assert_eq!((resources.resident_blocks, resources.blocks_per_multiprocessor), (3456, 32));
    assert_eq!((resources.threads, resources.shared_bytes, resources.registers), (1, 0, None));
    cooperative(&mut out, 3456).launch(&stream)?;
    assert_eq!(out.to_vec(&stream)?[..3456], [3456; 3456]);
    let error = cooperative(&mut out, 3457).launch(&stream).expect_err("one block too many");
    assert_eq!(
        error.to_string(),
        "`count_blocks`: a cooperative launch has 3457 blocks; emulator for sm_80 holds 3456 of this kernel's at once"
    );
    Ok(())
}

#[test]
fn an_extent_beyond_the_index_type() -> Result<()> {
    let stream = stream()?;
    let one = stream.zeros::<f32, 1>([1])?;
    let fits = one.as_strided([(1 << 31) - 1], [0])?;
    let large = one.as_strided([1 << 31], [0])?;
    assert_eq!((fits.dim(0), large.dim(0)), (i32::MAX, i32::MAX));
    let error = refusal(&stream, &fits, &large, &mut stream.zeros([1])?);
    assert_eq!(
        error.to_string(),
        "`scaled_sum`: axis 0 of argument `b` has 2147483648 elements; at most 2147483647 are possible"
    );
    assert!(matches!(error, Error::DimTooLarge { argument: "b", axis: 0, .. }));
    Ok(())
}

#[test]
fn a_written_argument_with_overlapping_elements() -> Result<()> {
    let stream = stream()?;
    let a = stream.zeros([4])?;
    let mut one = stream.zeros::<f32, 1>([1])?;
    let mut repeated = one.as_strided_mut([4], [0])?;
    let error = refusal(&stream, &a, &a, &mut repeated);
    assert_eq!(
        error.to_string(),
        "`scaled_sum`: argument `c` is written, and its elements overlap: shape [4], strides [0]"
    );
    assert!(matches!(error, Error::OverlappingElements { argument: "c", .. }));
    Ok(())
}

/// Two exclusive views can be swapped, which takes them out of their borrows.
#[test]
fn a_written_argument_that_shares_memory() -> Result<()> {
    let stream = stream()?;
    let mut tensor = stream.zeros::<f32, 1>([8])?;
    let mut stolen = stream.zeros::<f32, 1>([8])?;
    std::mem::swap(&mut *tensor.slice_mut(0, 2..6)?, &mut stolen);
    let b = stream.zeros([4])?;
    let error = refusal(&stream, &tensor, &b, &mut stolen);
    assert_eq!(
        error.to_string(),
        "`scaled_sum`: argument `c` is written, and shares memory with argument `a`"
    );
    assert!(matches!(error, Error::Aliased { argument: "c", other: "a", .. }));
    let apart = tensor.slice(0, 6..8)?;
    scaled_sum(Args { a: &apart, b: &apart, c: &mut stolen, scale: 1.0, negate: false })
        .grid(1)
        .variant(stream.device())?;
    Ok(())
}

#[test]
fn arguments_that_are_not_what_the_parameters_take() -> Result<()> {
    let stream = stream()?;
    let (half, mut c) = (stream.zeros::<f64, 1>([4])?, stream.zeros::<f32, 1>([4])?);
    let matrix = stream.zeros::<f32, 2>([4, 4])?;
    let a = stream.zeros::<f32, 1>([4])?;
    let arguments = |a| vec![a, 1u8.into_argument()];
    let error = __launch(&SCALED_SUM_IMAGES, arguments(a.into_argument()), None)
        .launch(&stream)
        .expect_err("two of five arguments");
    assert_eq!(error.to_string(), "`scaled_sum` takes 5 arguments, not 2");

    let mut wrong = |first: kernel_runtime::Argument<'_>| {
        let arguments = vec![
            first,
            (&a).into_argument(),
            (&mut c).into_argument(),
            1.0f32.into_argument(),
            true.into_argument(),
        ];
        __launch(&SCALED_SUM_IMAGES, arguments, None)
            .grid(1)
            .launch(&stream)
            .expect_err("the first argument is wrong")
            .to_string()
    };
    let text = |actual| format!("`scaled_sum`: argument `a` takes Tensor<f32, 1>, not {actual}");
    assert_eq!(wrong((&half).into_argument()), text("Tensor<f64, 1>"));
    assert_eq!(wrong((&matrix).into_argument()), text("Tensor<f32, 2>"));
    let deep = stream.zeros::<f32, 7>([1; 7])?;
    assert_eq!(wrong((&deep).into_argument()), text("Tensor<f32, 7>"));
    assert_eq!(wrong(a.device_ptr().into_argument()), text("Ptr<f32>"));
    assert_eq!(wrong(1i32.into_argument()), text("i32"));

    let read_only = vec![
        (&a).into_argument(),
        (&a).into_argument(),
        (&a).into_argument(),
        1.0f32.into_argument(),
        true.into_argument(),
    ];
    let error = __launch(&SCALED_SUM_IMAGES, read_only, None).launch(&stream);
    let Err(Error::ArgumentKind { argument: "c", required, actual, .. }) = error else {
        panic!("{error:?}")
    };
    assert_eq!(required, ParamKind::Tensor { dtype: "f32", rank: 1, mutable: true });
    assert_eq!(actual, ParamKind::Tensor { dtype: "f32", rank: 1, mutable: false });
    Ok(())
}

#[test]
fn a_grid_that_is_missing_or_out_of_range() -> Result<()> {
    let stream = stream()?;
    let mut out = stream.zeros::<u32, 1>([4])?;
    let missing = __launch(&COUNT_BLOCKS_IMAGES, vec![(&mut out).into_argument()], None)
        .launch(&stream)
        .expect_err("no grid");
    assert!(matches!(missing, Error::GridMissing { kernel: "count_blocks" }), "{missing:?}");

    let mut refused = |grid: [i32; 3]| {
        let launch = write_one(&COUNT_BLOCKS_IMAGES, &mut out, 1).grid(grid);
        launch.launch(&stream).expect_err("out of range")
    };
    for (grid, bad_axis) in
        [([-1, 1, 1], 0), ([1, 65_536, 1], 1), ([1, 1, 65_536], 2), ([1, 0, -1], 2)]
    {
        let error = refused(grid);
        let Error::GridOutOfRange { axis, actual, .. } = error else { panic!("{error:?}") };
        assert_eq!((axis, actual), (bad_axis, grid[bad_axis]));
    }
    assert_eq!(
        refused([1, 65_536, 1]).to_string(),
        "`count_blocks`: axis 1 of the grid is 65536; it has to be 0 to 65535"
    );
    let negative = write_one(&COUNT_BLOCKS_IMAGES, &mut out, 1)
        .grid(persistent(-1))
        .launch(&stream)
        .expect_err("fewer than no tiles");
    assert!(matches!(negative, Error::GridOutOfRange { axis: 0, actual: -1, .. }));
    assert!(stream.device().emulator_report().is_none(), "nothing has run");
    Ok(())
}

#[test]
fn more_shared_memory_than_the_device_has() -> Result<()> {
    let stream = stream()?;
    let mut out = stream.zeros::<u32, 1>([1])?;
    let error = write_one(&GREEDY_IMAGES, &mut out, 1).launch(&stream).expect_err("200 KiB");
    assert_eq!(
        error.to_string(),
        "`greedy`: a block needs 204800 bytes of shared memory; emulator for sm_80 has 166912"
    );
    // Hopper has room for it.
    let stream = Device::emulator(Target::Sm90a)?.stream()?;
    let mut out = stream.zeros::<u32, 1>([1])?;
    write_one(&GREEDY_IMAGES, &mut out, 1).launch(&stream)
}

#[test]
fn more_threads_than_a_block_has() -> Result<()> {
    let stream = stream()?;
    let mut out = stream.zeros::<u32, 1>([1])?;
    let error = write_one(&CROWDED_IMAGES, &mut out, 1).launch(&stream).expect_err("1025 threads");
    assert_eq!(
        error.to_string(),
        "`crowded`: a block has 1025 threads; emulator for sm_80 takes at most 1024 with the kernel's registers"
    );
    assert!(matches!(error, Error::BlockTooLarge { required: 1025, actual: 1024, .. }));
    Ok(())
}

#[test]
fn code_that_cannot_be_loaded() -> Result<()> {
    let stream = stream()?;
    let mut out = stream.zeros::<u32, 1>([1])?;
    for (images, required) in [
        (&GARBAGE_IMAGES, ""),
        (&NO_ENTRY_IMAGES, "the PTX has no entry `elsewhere`"),
        (&STALE_IMAGES, "the entry has 2 parameters, the signature 3"),
    ] {
        let launched = write_one(images, &mut out, 1).launch(&stream);
        let Err(Error::ModuleLoad { kernel, variant, cause, .. }) = launched else {
            panic!("{launched:?}")
        };
        assert_eq!((kernel, variant), (images[0].kernel, "general"));
        assert!(cause.contains(required) && !cause.is_empty(), "{cause}");
    }
    Ok(())
}

#[test]
fn a_fault_is_shown_whole() -> Result<()> {
    let stream = stream()?;
    let mut out = stream.zeros::<u32, 1>([64])?;
    let error = write_one(&OVERRUN_IMAGES, &mut out, 1).launch(&stream).expect_err("out of bounds");
    let text = error.to_string();
    let Error::Fault { kernel: "overrun", fault } = error else { panic!("{text}") };
    assert!(text.ends_with(&fault.to_string()), "{text}");
    assert!(text.contains("st.global.u32"), "{text}");
    // The stream goes on.
    write_one(&COUNT_BLOCKS_IMAGES, &mut out, 2).launch(&stream)?;
    assert_eq!(out.to_vec(&stream)?[..3], [2, 2, 0]);
    Ok(())
}
