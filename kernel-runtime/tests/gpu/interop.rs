//! Streams and memory of other libraries, graphs and pinned memory where work is pending: what only a GPU shows.
//!
//! Another library is played by a stream of Kiln's under its raw handle, and by cudarc's own types.

use super::{PAUSE, SLOW, slow_fill};
use ::cudarc::driver::{CudaContext, sys};
use kernel_runtime::{
    __launch, Device, DeviceTensor, Error, IntoArgument, Result, Stream, TensorArgumentMut,
    TensorViewMut, cudarc as interop,
};
use std::{
    ptr::null_mut,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

pub(crate) const TESTS: &[super::Test] = &[
    ("foreign_work_and_kilns_are_in_order", foreign_work_and_kilns_are_in_order),
    ("foreign_memory_goes_after_the_work_on_it", foreign_memory_goes_after_the_work_on_it),
    (
        "owners_of_memory_on_kilns_streams_stay_until_its_work_is_done",
        owners_of_memory_on_kilns_streams_stay_until_its_work_is_done,
    ),
    ("the_context_of_another_library_stays_current", the_context_of_another_library_stays_current),
    ("cudarcs_captures_are_refused", cudarcs_captures_are_refused),
    ("a_foreign_stream_is_one_queue", a_foreign_stream_is_one_queue),
    ("shared_memory_is_in_order_both_ways", shared_memory_is_in_order_both_ways),
    (
        "addresses_that_are_not_the_devices_are_refused",
        addresses_that_are_not_the_devices_are_refused,
    ),
    ("the_default_stream_of_a_thread_is_its_own", the_default_stream_of_a_thread_is_its_own),
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

/// Says when it is dropped.
struct Owner(Arc<AtomicBool>);

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

fn owners_of_memory_on_kilns_streams_stay_until_its_work_is_done(device: &Device) -> Result<()> {
    let stream = device.stream()?;
    let memory = stream.zeros::<u32, 1>([1000])?;
    let is_dropped = Arc::new(AtomicBool::new(false));
    let owner = Owner(Arc::clone(&is_dropped));
    let (address, shape) = (memory.address(), memory.shape());
    // SAFETY: `memory` lives longer.
    let mut view = unsafe { DeviceTensor::from_raw(&stream, address, shape, [1], owner) }?;
    slow_fill(&SLOW, &mut view, 4 * PAUSE, 3).launch(&stream)?;
    let done = stream.record()?;
    drop(view);
    let early = is_dropped.load(Ordering::SeqCst);
    assert!(!early || done.is_done()?, "the kernel is under way");
    done.synchronize()?;
    let start = Instant::now();
    while !is_dropped.load(Ordering::SeqCst) {
        assert!(start.elapsed() < Duration::from_secs(10), "nobody drops it");
        thread::yield_now();
    }
    Ok(())
}

/// `cuCtxCreate_v2` (CUDA Driver API, "Context Management").
type CreateContext = unsafe extern "C" fn(*mut sys::CUcontext, u32, sys::CUdevice) -> sys::CUresult;

fn the_context_of_another_library_stays_current(device: &Device) -> Result<()> {
    // A context that is not the primary one stands for that of another GPU.
    let mut own = null_mut();
    let current = || {
        let mut current = null_mut();
        // SAFETY: the driver is initialised; the pointer is to a live handle.
        let answer = unsafe { sys::cuCtxGetCurrent(&raw mut current) };
        assert_eq!(answer, sys::CUresult::CUDA_SUCCESS);
        current
    };
    let stream = device.stream()?;
    let mut tensor = stream.zeros::<u32, 1>([10])?;
    // The bindings have one version of it or another, by the toolkit that is installed; the driver has this one always.
    // SAFETY: the library is loaded already: nothing of it runs now.
    let driver = unsafe { libloading::Library::new("libcuda.so.1") }.expect("a device is there");
    // SAFETY: the driver documents this signature for the name.
    let create = unsafe { driver.get::<CreateContext>(b"cuCtxCreate_v2") };
    let create = create.expect("the driver has it since CUDA 3.2");
    // SAFETY: device 0 is there; the pointer is to a live handle.
    let answer = unsafe { create(&raw mut own, 0, 0) };
    assert_eq!(answer, sys::CUresult::CUDA_SUCCESS);
    assert_eq!(current(), own);
    slow_fill(&SLOW, &mut tensor, 1, 3).launch(&stream)?;
    assert_eq!(current(), own);
    assert_eq!(tensor.to_vec(&stream)?, [3; 10]);
    let graph = device.capture(|stream| stream.fill(&mut tensor, 4))?;
    graph.launch(&stream)?;
    drop(device.pinned::<u32>(10)?);
    drop((graph, tensor));
    stream.synchronize()?;
    assert_eq!(current(), own);
    // SAFETY: the context is this test's own.
    assert_eq!(unsafe { sys::cuCtxDestroy_v2(own) }, sys::CUresult::CUDA_SUCCESS);
    Ok(())
}

fn cudarcs_captures_are_refused(device: &Device) -> Result<()> {
    let context = CudaContext::new(0).map_err(failed)?;
    let theirs = context.new_stream().map_err(failed)?;
    let (name, ours) = (Stream::from_cudarc(&theirs)?, device.stream()?);
    let mut on_theirs = name.zeros::<u32, 1>([10])?;
    let shared = ours.zeros::<u32, 1>([10])?;
    shared.share_with(&name)?;
    let pinned = device.pinned::<u32>(10)?;
    let graph = device.capture(|stream| stream.fill(&mut on_theirs, 9))?;
    let dropped = name.zeros::<u32, 1>([10])?;
    let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    theirs.begin_capture(mode).map_err(failed)?;
    let refused = [
        name.fill(&mut on_theirs, 1),
        // It would wait for what is recorded.
        shared.to_vec(&ours).map(drop),
        name.record().map(drop),
        name.wait(&ours.record()?),
        name.zeros::<u32, 1>([10]).map(drop),
        graph.launch(&name),
        name.download_async(&on_theirs, &pinned),
    ];
    drop(dropped);
    let flags = sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    theirs.end_capture(flags).map_err(failed)?;
    for result in refused {
        let error = result.expect_err("the stream is recorded");
        assert!(matches!(error, Error::NotInGraph { .. }), "{error}");
    }
    name.fill(&mut on_theirs, 2)?;
    name.download_async(&on_theirs, &pinned)?;
    assert_eq!(*pinned.read()?, [2; 10]);
    assert_eq!(on_theirs.to_vec(&ours)?, [2; 10]);
    // Whoever drops a slice of the per-thread stream frees it in the order of another one, perhaps.
    let own = context.per_thread_stream();
    let mut slice = own.clone_htod(&[1u32; 10]).map_err(failed)?;
    let error = interop::view_mut(&mut slice, [10]).expect_err("it is of a thread's own stream");
    assert!(matches!(error, Error::PerThreadStream), "{error}");
    Stream::from_cudarc(&own)?.synchronize()
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
    let default = unsafe { Stream::from_raw(device, null_mut(), ()) }?;
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

fn the_default_stream_of_a_thread_is_its_own(device: &Device) -> Result<()> {
    let per_thread = || {
        let handle = std::ptr::without_provenance_mut(2);
        // SAFETY: the driver has it always.
        unsafe { Stream::from_raw(device, handle, ()) }
    };
    let (stream, ours) = (per_thread()?, device.stream()?);
    let mut tensor = ours.zeros::<u32, 1>([1000])?;
    slow_fill(&SLOW, &mut tensor, PAUSE, 3).launch(&stream)?;
    // The same stream under two names, and another stream.
    slow_fill(&SLOW, &mut tensor, 1, 4).launch(&per_thread()?)?;
    assert_eq!(tensor.to_vec(&ours)?, [4; 1000]);
    let mut made_here = stream.zeros::<u32, 1>([1000])?;
    slow_fill(&SLOW, &mut made_here, PAUSE, 5).launch(&stream)?;
    thread::scope(|scope| {
        let elsewhere = scope.spawn(|| -> Result<()> {
            let theirs = per_thread()?;
            let refused = [
                stream.synchronize(),
                stream.fill(&mut tensor, 1),
                stream.record().map(drop),
                stream.zeros::<u32, 1>([1]).map(drop),
                // What is under way there cannot be waited for here.
                made_here.to_vec(&theirs).map(drop),
            ];
            for result in refused {
                let error = result.expect_err("the stream is the other thread's");
                assert!(matches!(error, Error::PerThreadStream), "{error}");
            }
            theirs.synchronize()?;
            // It is freed when the kernel is done: whoever gets the memory next keeps what it writes.
            drop(made_here);
            for value in 0..4 {
                let fresh = theirs.full::<u32, 1>([1000], value)?;
                assert_eq!(fresh.to_vec(&theirs)?, [value; 1000]);
            }
            Ok(())
        });
        elsewhere.join().expect("no assertion fails")
    })?;
    // SAFETY: the driver has it always.
    let legacy = unsafe { Stream::from_raw(device, null_mut(), ()) }?;
    legacy.synchronize()?;
    stream.synchronize()
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
    let slice = interop::into_slice(tensor, &theirs).map_err(|kept| kept.error)?;
    assert_eq!(theirs.clone_dtoh(&slice).map_err(failed)?, [6; 1000]);
    drop(slice);
    let shared = ours.full::<u32, 1>([10], 5)?;
    shared.share_with(&Stream::from_cudarc(&theirs)?)?;
    let kept = interop::into_slice(shared, &theirs).expect_err("somebody else has it");
    assert!(matches!(kept.error, Error::NotOwned { .. }), "{kept}");
    assert_eq!(kept.tensor.to_vec(&ours)?, [5; 10]);
    // Its memory is free for others when the graph is gone.
    let held = ours.full::<u32, 1>([10], 6)?;
    let mut copy = ours.zeros([10])?;
    let graph = device.capture(|stream| stream.copy(&held, &mut copy))?;
    let kept = interop::into_slice(held, &theirs).expect_err("the graph has it");
    drop(graph);
    let slice = interop::into_slice(kept.tensor, &theirs).map_err(|kept| kept.error)?;
    assert_eq!(theirs.clone_dtoh(&slice).map_err(failed)?, [6; 10]);
    let empty = ours.zeros::<u32, 1>([0])?;
    let empty = interop::into_slice(empty, &theirs).map_err(|kept| kept.error)?;
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
    // Other tests may keep the driver from answering: once is enough.
    let goes_on = (0..5).try_fold(false, |goes_on, _| {
        slow_fill(&SLOW, &mut tensor, 4 * PAUSE, 5).launch(&stream)?;
        stream.download_async(&tensor, &memory)?;
        let done = stream.record()?;
        let returned_before = !done.is_done()?;
        assert_eq!(*memory.read()?, [5; 1000]);
        assert!(done.is_done()?, "the elements are looked at when they are there");
        stream.fill(&mut tensor, 0)?;
        Ok::<_, Error>(goes_on || returned_before)
    });
    assert!(goes_on?, "the host has waited for each copy");
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
