//! Two GPUs: copies between them, kernels on the memory of the other, and what becomes of the ranks when one of them fails.

use super::{PAUSE, SLOW, kernels, slow_fill};
use kernel_runtime::{Comm, CommError, Device, Element, Error, ReduceOp, Result, Stream};
use std::{
    thread,
    time::{Duration, Instant},
};

/// What needs two GPUs.
pub(crate) const TESTS: &[super::Test] = &[
    ("copies_between_gpus_are_in_order", copies_between_gpus_are_in_order),
    ("kernels_use_the_memory_of_a_peer", kernels_use_the_memory_of_a_peer),
    ("a_stream_waits_for_events_of_another_gpu", a_stream_waits_for_events_of_another_gpu),
    ("streams_of_another_gpu_are_refused", streams_of_another_gpu_are_refused),
];

/// What needs two GPUs and NCCL.
pub(crate) const NCCL_TESTS: &[super::Test] = &[
    ("a_rank_that_never_comes_is_a_timeout", a_rank_that_never_comes_is_a_timeout),
    ("an_abort_ends_the_others_wait", an_abort_ends_the_others_wait),
    ("collectives_that_differ_end_the_group", collectives_that_differ_end_the_group),
    ("ranks_in_threads_sum_and_go_on", ranks_in_threads_sum_and_go_on),
];

/// Why these tests cannot run, if they cannot.
pub(crate) fn missing() -> Option<String> {
    match Device::cuda_count() {
        Ok(0 | 1) => Some("there are fewer than two GPUs".to_owned()),
        // Another error is for the tests to show.
        Ok(_) | Err(_) => None,
    }
}

fn copies_between_gpus_are_in_order(one: &Device) -> Result<()> {
    let two = Device::cuda(1)?;
    let (here, there) = (one.stream()?, two.stream()?);
    let mut a = here.zeros([1000])?;
    let mut b = there.zeros([1000])?;
    for value in 1..5 {
        // The copy waits for the kernel that is under way on the other GPU, and the kernel behind it for the copy.
        slow_fill(&SLOW, &mut a, PAUSE / 10, value).launch(&here)?;
        there.copy(&a, &mut b)?;
        slow_fill(&SLOW, &mut a, 1, 100).launch(&here)?;
        assert_eq!(b.to_vec(&there)?, vec![value; 1000]);
        slow_fill(&SLOW, &mut b, PAUSE / 10, value + 10).launch(&there)?;
        there.copy(&b, &mut a)?;
        assert_eq!(a.to_vec(&here)?, vec![value + 10; 1000]);
    }
    Ok(())
}

fn kernels_use_the_memory_of_a_peer(one: &Device) -> Result<()> {
    let two = Device::cuda(1)?;
    let (here, there) = (one.stream()?, two.stream()?);
    let a = there.upload(&[1.0f32, 2.0, 3.0], [3])?;
    let b = here.full([3], 10.0)?;
    let mut c = here.zeros([3])?;
    let launch = |c: &mut _| {
        kernels::scaled_sum(kernels::Args { a: &a, b: &b, c, scale: 2.0, negate: false })
            .launch(&here)
    };
    // No other test makes the first GPU reach the second.
    let error = launch(&mut c).expect_err("nobody said that it may");
    assert!(matches!(error, Error::WrongDevice { argument: "a", .. }), "{error}");
    one.enable_peer(&two)?;
    one.enable_peer(&two)?;
    launch(&mut c)?;
    assert_eq!(c.to_vec(&here)?, [21.0, 22.0, 23.0]);
    Ok(())
}

fn a_stream_waits_for_events_of_another_gpu(one: &Device) -> Result<()> {
    let two = Device::cuda(1)?;
    let (here, there) = (one.stream()?, two.stream()?);
    let mut slow = there.zeros([1000])?;
    // Other tests may keep the driver from answering: once is enough.
    let goes_on = (0..5).try_fold(false, |goes_on, _| {
        slow_fill(&SLOW, &mut slow, 4 * PAUSE, 3).launch(&there)?;
        let event = there.record()?;
        here.wait(&event)?;
        let returned_before = !event.is_done()?;
        here.synchronize()?;
        assert!(event.is_done()?, "the stream has waited for it");
        Ok::<_, Error>(goes_on || returned_before)
    });
    assert!(goes_on?, "the host has waited each time");
    Ok(())
}

/// NCCL itself would add them up: both have as many bytes.
fn collectives_that_differ_end_the_group(_: &Device) -> Result<()> {
    fn rank<T: Element>(comm: &Comm) -> Result<()> {
        let stream = comm.device().stream()?;
        let mut x = stream.zeros::<T, 1>([1000])?;
        comm.all_reduce_in_place(&stream, &mut x, ReduceOp::Sum)?;
        comm.wait(&stream)?;
        // What they have told one another may come behind the sum.
        thread::sleep(Duration::from_secs(1));
        comm.wait(&stream)
    }
    let [first, second] = pair()?;
    let begin = Instant::now();
    let (first, second) = thread::scope(|scope| {
        let second = scope.spawn(|| rank::<u32>(&second));
        (rank::<f32>(&first), second.join().expect("it does not panic"))
    });
    for result in [first, second] {
        let error = result.expect_err("one adds floats, one integers");
        assert!(
            matches!(&error, Error::Comm(cause) if matches!(**cause, CommError::Mismatch { .. })),
            "{error}"
        );
    }
    assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", begin.elapsed());
    Ok(())
}

fn streams_of_another_gpu_are_refused(one: &Device) -> Result<()> {
    let two = Device::cuda(1)?;
    let (here, there) = (one.stream()?, two.stream()?);
    let raw = there.raw().expect("a GPU has handles");
    // SAFETY: the clone keeps the stream alive.
    let error = unsafe { Stream::from_raw(one, raw, there.clone()) }.expect_err("another device's");
    assert!(matches!(error, Error::ForeignContext { .. }), "{error}");
    let x = there.full([4], 1u32)?;
    let error = x.to_vec(&here).expect_err("a stream of another device");
    assert!(matches!(error, Error::StreamOfAnotherDevice { .. }), "{error}");
    // The address of a tensor of one, said to be of the other.
    let shape = x.shape();
    // SAFETY: the tensor stays.
    let foreign = unsafe {
        kernel_runtime::TensorView::<u32, 1>::from_raw(&here, x.address(), shape, [1], ())
    };
    let error = foreign.expect_err("memory of another device");
    assert!(matches!(error, Error::ForeignMemory { .. }), "{error}");
    Ok(())
}

fn pair() -> Result<[Comm; 2]> {
    let comms = Comm::in_process(&[Device::cuda(0)?, Device::cuda(1)?])?;
    Ok(comms.try_into().expect("one for each device"))
}

fn a_rank_that_never_comes_is_a_timeout(_: &Device) -> Result<()> {
    let [first, second] = pair()?;
    let first = first.with_timeout(Duration::from_secs(3));
    let stream = first.device().stream()?;
    let mut x = stream.full([1000], 1.0f32)?;
    let begin = Instant::now();
    let result = first
        .all_reduce_in_place(&stream, &mut x, ReduceOp::Sum)
        .and_then(|()| first.wait(&stream));
    let error = result.expect_err("nobody else reduces");
    assert!(
        matches!(&error, Error::Comm(cause) if matches!(**cause, CommError::Timeout { .. })),
        "{error}"
    );
    assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
    assert!(first.barrier(&stream).is_err());
    // What is on the stream has not been done: whoever waits for it is told.
    assert!(first.wait(&stream).is_err());
    drop(second);
    // The GPU is as it was.
    stream.fill(&mut x, 4.0)?;
    assert_eq!(x.to_vec(&stream)?, vec![4.0; 1000]);
    Ok(())
}

fn an_abort_ends_the_others_wait(_: &Device) -> Result<()> {
    let [first, second] = pair()?;
    let first = first.with_timeout(Duration::from_secs(10));
    let stream = first.device().stream()?;
    let mut x = stream.full([1000], 1.0f32)?;
    let begin = Instant::now();
    let result = thread::scope(|scope| {
        scope.spawn(move || {
            thread::sleep(Duration::from_secs(1));
            second.abort();
        });
        first.all_reduce_in_place(&stream, &mut x, ReduceOp::Sum)?;
        first.wait(&stream)
    });
    let error = result.expect_err("the other rank is gone");
    assert!(matches!(error, Error::Comm(_)), "{error}");
    assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
    Ok(())
}

fn ranks_in_threads_sum_and_go_on(_: &Device) -> Result<()> {
    let comms = pair()?;
    thread::scope(|scope| {
        let ranks: Vec<_> = comms
            .into_iter()
            .map(|comm| {
                scope.spawn(move || {
                    let stream = comm.device().stream()?;
                    let mut x = stream.full([1 << 20], 1.0f32)?;
                    for _ in 0..8 {
                        comm.all_reduce_in_place(&stream, &mut x, ReduceOp::Sum)?;
                    }
                    comm.wait(&stream)?;
                    assert_eq!(x.to_vec(&stream)?, vec![256.0; 1 << 20]);
                    Ok(())
                })
            })
            .collect();
        ranks.into_iter().try_for_each(|rank| rank.join().expect("a rank has panicked"))
    })
}
