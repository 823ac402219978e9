//! Streams and memory of other libraries, graphs and pinned memory where work is pending: what only a GPU shows.
//!
//! Another library is played by a stream of Kiln's under its raw handle, and by cudarc's own types.

use super::{PAUSE, SLOW, slow_fill};
use ::cudarc::driver::CudaContext;
use kernel_runtime::{
    __launch, Device, DeviceTensor, Error, IntoArgument, Result, Stream, TensorArgumentMut,
    TensorViewMut, cudarc as interop,
};
use std::time::{Duration, Instant};

pub(crate) const TESTS: &[super::Test] = &[
    ("foreign_work_and_kilns_are_in_order", foreign_work_and_kilns_are_in_order),
    ("foreign_memory_goes_after_the_work_on_it", foreign_memory_goes_after_the_work_on_it),
    ("a_foreign_stream_is_one_queue", a_foreign_stream_is_one_queue),
    ("shared_memory_is_in_order_both_ways", shared_memory_is_in_order_both_ways),
    (
        "addresses_that_are_not_the_devices_are_refused",
        addresses_that_are_not_the_devices_are_refused,
    ),
    ("the_default_stream_of_a_thread_is_refused", the_default_stream_of_a_thread_is_refused),
    ("cudarcs_slices_are_tensors", cudarcs_slices_are_tensors),
    ("a_tensor_becomes_a_slice_of_cudarcs", a_tensor_becomes_a_slice_of_cudarcs),
    ("graphs_wait_and_are_waited_for", graphs_wait_and_are_waited_for),
    ("the_host_goes_on_during_pinned_copies", the_host_goes_on_during_pinned_copies),
    ("kernels_load_ahead_and_say_what_they_take", kernels_load_ahead_and_say_what_they_take),
    ("the_pool_keeps_memory", the_pool_keeps_memory),
    ("wide_elements_are_filled", wide_elements_are_filled),
];

/// `stream` as another library would hand it over.
fn foreign(stream: &Stream) -> Result<Stream> {
    let raw = stream.raw().expect("a GPU has handles");
    // SAFETY: the clone keeps the stream alive.
    unsafe { Stream::from_raw(stream.device(), raw, stream.clone()) }
}

/// The same memory, of which Kiln knows what it knows of another library's.
fn lent(of: &DeviceTensor<u32, 1>, stream: &Stream) -> Result<TensorViewMut<'static, u32, 1>> {
    // SAFETY: the tests keep `of`.
    unsafe { TensorViewMut::from_raw(stream, of.address(), of.shape(), of.strides(), ()) }
}

fn foreign_work_and_kilns_are_in_order(device: &Device) -> Result<()> {
    let (theirs, ours) = (device.stream()?, device.stream()?);
    let mut memory = theirs.zeros([1000])?;
    let name = foreign(&theirs)?;
    let mut view = lent(&memory, &name)?;
    // Their kernel is under way when ours is launched on another stream.
    slow_fill(&SLOW, &mut memory, PAUSE, 1).launch(&theirs)?;
    let mut copy = ours.empty([1000])?;
    ours.copy(&view, &mut copy)?;
    assert_eq!(copy.to_vec(&ours)?, [1; 1000]);
    // Ours is under way when they read: the address is all that they know.
    slow_fill(&SLOW, &mut view, PAUSE, 2).launch(&ours)?;
    assert_eq!(memory.to_vec(&theirs)?, [2; 1000]);
    // They overwrite while ours reads, and read what they have written.
    slow_fill(&SLOW, &mut memory, PAUSE, 3).launch(&theirs)?;
    ours.copy(&view, &mut copy)?;
    slow_fill(&SLOW, &mut memory, 1, 4).launch(&theirs)?;
    assert_eq!(copy.to_vec(&ours)?, [3; 1000]);
    assert_eq!(memory.to_vec(&theirs)?, [4; 1000]);
    Ok(())
}

fn foreign_memory_goes_after_the_work_on_it(device: &Device) -> Result<()> {
    let (theirs, ours) = (device.stream()?, device.stream()?);
    let name = foreign(&theirs)?;
    for value in 0..20 {
        let memory = theirs.zeros::<u32, 1>([100_000])?;
        let (address, shape) = (memory.address(), memory.shape());
        // SAFETY: the tensor goes along as the owner.
        let mut view =
            unsafe { DeviceTensor::<u32, 1>::from_raw(&name, address, shape, [1], memory) }?;
        slow_fill(&SLOW, &mut view, 1_000_000, u32::MAX).launch(&ours)?;
        drop(view);
        let fresh = theirs.full([100_000], value)?;
        assert_eq!(fresh.to_vec(&theirs)?, vec![value; 100_000]);
    }
    Ok(())
}

fn a_foreign_stream_is_one_queue(device: &Device) -> Result<()> {
    let theirs = device.stream()?;
    let (one, two) = (foreign(&theirs)?, foreign(&theirs)?);
    let mut memory = one.zeros([1000])?;
    slow_fill(&SLOW, &mut memory, PAUSE, 1).launch(&two)?;
    slow_fill(&SLOW, &mut memory, 1, 2).launch(&theirs)?;
    assert_eq!(memory.to_vec(&one)?, [2; 1000]);
    // The default stream of the runtime's context.
    // SAFETY: it is there as long as the context.
    let default = unsafe { Stream::from_raw(device, std::ptr::null_mut(), ()) }?;
    slow_fill(&SLOW, &mut memory, PAUSE, 3).launch(&default)?;
    assert_eq!(memory.to_vec(&theirs)?, [3; 1000]);
    drop((one, two));
    // It is not destroyed with its other names.
    assert_eq!(theirs.full::<u32, 1>([2], 5)?.to_vec(&theirs)?, [5, 5]);
    Ok(())
}

fn shared_memory_is_in_order_both_ways(device: &Device) -> Result<()> {
    let (theirs, ours) = (device.stream()?, device.stream()?);
    let name = foreign(&theirs)?;
    let mut tensor = ours.zeros([1000])?;
    slow_fill(&SLOW, &mut tensor, PAUSE, 1).launch(&ours)?;
    tensor.share_with(&name)?;
    // What they do with the address.
    let mut seen = theirs.empty([1000])?;
    let what_they_see = lent(&tensor, &foreign(&theirs)?)?;
    theirs.copy(&what_they_see, &mut seen)?;
    assert_eq!(seen.to_vec(&theirs)?, [1; 1000]);
    let mut again = lent(&tensor, &foreign(&theirs)?)?;
    slow_fill(&SLOW, &mut again, PAUSE, 2).launch(&theirs)?;
    assert_eq!(tensor.to_vec(&ours)?, [2; 1000]);
    Ok(())
}

fn addresses_that_are_not_the_devices_are_refused(device: &Device) -> Result<()> {
    let stream = device.stream()?;
    let at = |address| {
        // SAFETY: all of them are refused.
        let error = unsafe { DeviceTensor::<u32, 1>::from_raw(&stream, address, [4], [1], ()) };
        let error = error.expect_err("nothing of the device is there");
        assert!(matches!(error, Error::ForeignMemory { .. }), "{error}");
        error.to_string()
    };
    let host = vec![0u32; 64];
    let text = at(host.as_ptr().addr() as u64);
    assert!(text.ends_with("nothing is allocated there, or it has been freed"), "{text}");
    let pinned = device.pinned::<u32>(64)?;
    let text = at(pinned.read()?.as_ptr().addr() as u64);
    assert!(text.ends_with("the address is memory of the host"), "{text}");
    assert!(at(16).ends_with("nothing is allocated there, or it has been freed"));
    let tensor = stream.zeros::<u32, 1>([4])?;
    assert!(at(tensor.address() + 2).ends_with("the address is no multiple of 4"));
    let far = tensor.address() + (1 << 45);
    assert!(at(far).ends_with("nothing is allocated there, or it has been freed"));
    Ok(())
}

fn failed(error: impl std::fmt::Display) -> Error {
    panic!("cudarc: {error}")
}

/// As [`slow_fill`], of what has the type of an argument and no other.
fn fill_late(out: &mut impl TensorArgumentMut<u32, 1>, value: u32, stream: &Stream) -> Result<()> {
    let out = out.tensor_mut()?.into_argument();
    let arguments = vec![out, PAUSE.into_argument(), value.into_argument()];
    __launch(&SLOW, arguments, None).grid(1).launch(stream)
}

fn the_default_stream_of_a_thread_is_refused(device: &Device) -> Result<()> {
    // SAFETY: the driver has it always.
    let stream = unsafe { Stream::from_raw(device, std::ptr::without_provenance_mut(2), ()) };
    assert!(matches!(stream, Err(Error::PerThreadStream)), "{stream:?}");
    // SAFETY: as above.
    let legacy = unsafe { Stream::from_raw(device, std::ptr::null_mut(), ()) }?;
    legacy.synchronize()
}

fn cudarcs_slices_are_tensors(device: &Device) -> Result<()> {
    let context = CudaContext::new(0).map_err(failed)?;
    assert_eq!(Device::from_cudarc(&context)?, *device);
    let ours = device.stream()?;
    let forked = context.new_stream().map_err(failed)?;
    for theirs in [context.default_stream(), forked] {
        let mut slice = theirs.clone_htod(&[7u32; 1000]).map_err(failed)?;
        {
            let mut tensor = interop::view_mut(&mut slice, [1000])?;
            assert_eq!(tensor.reshape([10, 100])?.to_vec(&ours)?, [7; 1000]);
            fill_late(&mut tensor, 8, &ours)?;
        }
        assert_eq!(theirs.clone_dtoh(&slice).map_err(failed)?, [8; 1000]);
        // On their own stream, under Kiln's name for it.
        let name = Stream::from_cudarc(&theirs)?;
        {
            let mut tensor = interop::view_mut(&mut slice, [1000])?;
            fill_late(&mut tensor, 9, &name)?;
        }
        assert_eq!(theirs.clone_dtoh(&slice).map_err(failed)?, [9; 1000]);
        // A kernel of Kiln's on what cudarc is still writing, and cudarc's next write after it.
        let source = theirs.clone_htod(&vec![3u32; 1000]).map_err(failed)?;
        theirs.memcpy_dtod(&source, &mut slice).map_err(failed)?;
        let mut copy = ours.empty([500])?;
        {
            let view = interop::view_strided(&slice, [500], [2])?;
            assert_eq!(view.to_vec(&ours)?, [3; 500]);
            let half = slice.slice(500..);
            let half = interop::view(&half, [500])?;
            ours.copy(&half, &mut copy)?;
        }
        theirs.memset_zeros(&mut slice).map_err(failed)?;
        assert_eq!(copy.to_vec(&ours)?, [3; 500]);
        let error = interop::view::<u32, _, 2>(&slice, [10, 101]).expect_err("ten too few");
        assert!(matches!(error, Error::Length { required: 1010, actual: 1000, .. }), "{error}");
        // What is only lent is not for graphs.
        let view = interop::view(&slice, [500])?;
        let error = device.capture(|stream| stream.copy(&view, &mut copy));
        assert!(matches!(error, Err(Error::NotInGraph { .. })));
    }
    Ok(())
}

fn a_tensor_becomes_a_slice_of_cudarcs(device: &Device) -> Result<()> {
    let context = CudaContext::new(0).map_err(failed)?;
    let (theirs, ours) = (context.default_stream(), device.stream()?);
    let mut tensor = ours.zeros([1000])?;
    slow_fill(&SLOW, &mut tensor, PAUSE, 6).launch(&ours)?;
    let slice = interop::into_slice(tensor, &theirs)?;
    assert_eq!(theirs.clone_dtoh(&slice).map_err(failed)?, [6; 1000]);
    drop(slice);
    let shared = ours.zeros::<u32, 1>([10])?;
    shared.share_with(&Stream::from_cudarc(&theirs)?)?;
    let error = interop::into_slice(shared, &theirs).expect_err("somebody else has it");
    assert!(matches!(error, Error::NotOwned { .. }), "{error}");
    let empty = interop::into_slice(ours.zeros::<u32, 1>([0])?, &theirs)?;
    assert_eq!(empty.len(), 0);
    theirs.synchronize().map_err(failed)
}

fn graphs_wait_and_are_waited_for(device: &Device) -> Result<()> {
    let (one, two) = (device.stream()?, device.stream()?);
    let mut a = one.zeros([1000])?;
    let mut b = one.zeros([1000])?;
    let graph = device.capture(|stream| stream.copy(&a, &mut b))?;
    slow_fill(&SLOW, &mut a, PAUSE, 1).launch(&one)?;
    graph.launch(&two)?;
    slow_fill(&SLOW, &mut a, 1, 2).launch(&one)?;
    assert_eq!(b.to_vec(&one)?, [1; 1000]);
    // A kernel that was never loaded before is loaded while it is recorded; clusters and scalars are nodes' own.
    let slow = device.capture(|stream| slow_fill(&SLOW, &mut a, PAUSE, 7).launch(stream))?;
    slow.launch(&two)?;
    graph.launch(&one)?;
    assert_eq!(b.to_vec(&two)?, [7; 1000]);
    // Dropped while it runs.
    slow.launch(&two)?;
    drop(slow);
    assert_eq!(a.to_vec(&one)?, [7; 1000]);
    Ok(())
}

fn the_host_goes_on_during_pinned_copies(device: &Device) -> Result<()> {
    let stream = device.stream()?;
    let memory = device.pinned::<u32>(1000)?;
    let mut tensor = stream.zeros([1000])?;
    let start = Instant::now();
    slow_fill(&SLOW, &mut tensor, 4 * PAUSE, 5).launch(&stream)?;
    stream.download_async(&tensor, &memory)?;
    let returned = start.elapsed();
    assert_eq!(*memory.read()?, [5; 1000]);
    let done = start.elapsed();
    // 200 ms of kernel: not a measurement, but whether the copy was waited for.
    assert!(returned < Duration::from_millis(150), "{returned:?}");
    assert!(done >= Duration::from_millis(200), "{done:?}");
    // Memory that is dropped with a copy under way.
    slow_fill(&SLOW, &mut tensor, PAUSE, 6).launch(&stream)?;
    stream.download_async(&tensor, &memory)?;
    drop(memory);
    assert_eq!(tensor.to_vec(&stream)?, [6; 1000]);
    Ok(())
}

fn kernels_load_ahead_and_say_what_they_take(device: &Device) -> Result<()> {
    let stream = device.stream()?;
    let mut out = stream.zeros([4])?;
    let resources = {
        let launch = slow_fill(&SLOW, &mut out, 1, 1);
        launch.load(device)?;
        launch.resources(device)?
    };
    assert!(resources.registers.is_some_and(|count| (4..=64).contains(&count)), "{resources}");
    assert_eq!((resources.local_bytes, resources.shared_bytes, resources.threads), (Some(0), 0, 1));
    let most = resources.resident_blocks;
    assert_eq!(most, resources.blocks_per_multiprocessor * device.properties().multiprocessors);
    let most = i32::try_from(most).expect("some thousands");
    slow_fill(&SLOW, &mut out, 1, 2).grid(most).cooperative().launch(&stream)?;
    let error = slow_fill(&SLOW, &mut out, 1, 3).grid(most + 1).cooperative().launch(&stream);
    assert!(matches!(error, Err(Error::TooManyBlocks { .. })), "{error:?}");
    assert_eq!(out.to_vec(&stream)?, [2; 4]);
    Ok(())
}

fn the_pool_keeps_memory(device: &Device) -> Result<()> {
    let stream = device.stream()?;
    device.keep_memory(1 << 30)?;
    drop(stream.zeros::<u8, 1>([256 << 20])?);
    stream.synchronize()?;
    let kept = device.memory_use()?;
    assert!(kept.reserved >= 256 << 20, "{kept:?}");
    assert!(kept.free < kept.total && kept.used <= kept.reserved, "{kept:?}");
    device.keep_memory(0)?;
    device.trim_memory(0)?;
    let trimmed = device.memory_use()?;
    assert!(trimmed.reserved < kept.reserved, "{trimmed:?}");
    Ok(())
}

fn wide_elements_are_filled(device: &Device) -> Result<()> {
    let stream = device.stream()?;
    assert_eq!(stream.full([1001], -0.1f64)?.to_vec(&stream)?, [-0.1; 1001]);
    let value = 0x0123_4567_89AB_CDEFu64;
    assert_eq!(stream.full([3], value)?.to_vec(&stream)?, [value; 3]);
    let large = stream.full([5_000_000], value)?;
    assert!(large.to_vec(&stream)?.iter().all(|element| *element == value));
    Ok(())
}
