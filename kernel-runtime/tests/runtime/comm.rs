//! Groups of emulated devices in one process; those of many processes are in `processes`.

mod processes;

use half::{bf16, f16};
use kernel_runtime::{
    Comm, CommError, Device, Element, Error, ReduceOp, Result, Stream, Target, e4m3,
};
use std::{
    fmt::Debug,
    panic::{AssertUnwindSafe, catch_unwind},
    thread,
    time::Duration,
};

/// A limit that is never reached.
const LONG: Duration = Duration::from_secs(120);
/// A limit that is meant to be reached.
const SHORT: Duration = Duration::from_millis(50);

fn devices(count: usize) -> Result<Vec<Device>> {
    (0..count).map(|_| Device::emulator(Target::Sm80)).collect()
}

/// What each rank's thread returns, in order of the ranks.
fn ranks<U: Send>(
    count: usize,
    limit: Duration,
    work: impl Fn(&Comm, &Stream) -> Result<U> + Sync,
) -> Result<Vec<Result<U>>> {
    let comms = Comm::in_process(&devices(count)?)?;
    let run = |comm: Comm| {
        let comm = comm.with_timeout(limit);
        work(&comm, &comm.device().stream()?)
    };
    let run = &run;
    thread::scope(|scope| {
        let threads: Vec<_> =
            comms.into_iter().map(|comm| scope.spawn(move || run(comm))).collect();
        Ok(threads.into_iter().map(|thread| thread.join().expect("no panic")).collect())
    })
}

/// As [`ranks`], where all of them end well.
fn all<U: Send>(count: usize, work: impl Fn(&Comm, &Stream) -> Result<U> + Sync) -> Result<Vec<U>> {
    ranks(count, LONG, work)?.into_iter().collect()
}

/// The error of each rank.
fn errors<U: Send + Debug>(results: Vec<Result<U>>) -> Vec<CommError> {
    let error = |result: Result<U>| {
        let error = result.expect_err("each rank has an error");
        let Error::Comm(error) = error else { panic!("{error}") };
        *error
    };
    results.into_iter().map(error).collect()
}

fn reduced<T: Element>(op: ReduceOp, by_rank: &[[T; 2]]) -> Result<Vec<T>> {
    let mut results = all(by_rank.len(), |comm, stream| {
        let from = stream.upload(&by_rank[comm.rank()], [2])?;
        let mut to = stream.empty::<T, 2>([1, 2])?;
        comm.all_reduce(stream, &from, &mut to, op)?;
        assert_eq!(from.to_vec(stream)?, by_rank[comm.rank()]);
        to.to_vec(stream)
    })?;
    let last = results.pop().expect("one rank or more");
    assert!(results.iter().all(|result| *result == last), "{results:?} {last:?}");
    Ok(last)
}

#[test]
fn elements_of_all_ranks_are_reduced() -> Result<()> {
    use ReduceOp::{Average, Max, Min, Product, Sum};
    let small = [[3i32, -4], [5, 6], [-7, 0]];
    assert_eq!(reduced(Sum, &small)?, [1, 2]);
    assert_eq!(reduced(Product, &small)?, [-105, 0]);
    assert_eq!(reduced(Min, &small)?, [-7, -4]);
    assert_eq!(reduced(Max, &small)?, [5, 6]);
    assert_eq!(reduced(Average, &[[3i32, -4], [4, -7]])?, [3, -5]);
    assert_eq!(reduced(Sum, &[[250u8, 1], [10, 2]])?, [4, 3]);
    assert_eq!(reduced(Average, &[[1.0f32, 2.0], [2.0, 5.0]])?, [1.5, 3.5]);
    assert_eq!(reduced(Product, &[[0.5f64, 3.0], [4.0, 7.0]])?, [2.0, 21.0]);
    let half = |x: f32, y: f32| [f16::from_f32(x), f16::from_f32(y)];
    assert_eq!(reduced(Sum, &[half(1.5, 2048.0), half(2.0, 1.0)])?, half(3.5, 2048.0));
    let brain = |x: f32, y: f32| [bf16::from_f32(x), bf16::from_f32(y)];
    assert_eq!(reduced(Max, &[brain(1.5, -8.0), brain(2.0, -9.0)])?, brain(2.0, -8.0));
    let eight = |x: f32, y: f32| [e4m3::from_f32(x), e4m3::from_f32(y)];
    assert_eq!(reduced(Sum, &[eight(1.5, -8.0), eight(2.5, 0.25)])?, eight(4.0, -8.0));
    assert_eq!(reduced(Min, &[[i64::MIN, 1], [i64::MAX, u32::MAX.into()]])?, [i64::MIN, 1]);
    Ok(())
}

/// 1e8 + 1 is 1e8 in f32: in order of the ranks nothing is left, in any other order the 1 is.
#[test]
fn sums_are_in_order_of_the_ranks() -> Result<()> {
    assert_eq!(reduced(ReduceOp::Sum, &[[1e8f32, 1.0], [1.0, 1e8], [-1e8, -1e8]])?, [0.0, 0.0]);
    assert_eq!(reduced(ReduceOp::Sum, &[[1e8f32, 1e8], [-1e8, -1e8], [1.0, 2.0]])?, [1.0, 2.0]);
    Ok(())
}

#[test]
fn elements_move_between_ranks() -> Result<()> {
    let results = all(3, |comm, stream| {
        let rank = i16::try_from(comm.rank()).expect("three ranks");
        let own = stream.upload(&[10 * rank, 10 * rank + 1], [2])?;
        let mut gathered = stream.empty::<i16, 2>([3, 2])?;
        comm.all_gather(stream, &own, &mut gathered)?;
        assert_eq!(gathered.to_vec(stream)?, [0, 1, 10, 11, 20, 21]);

        let mut from_one = stream.upload(&[rank; 3], [3])?;
        comm.broadcast(stream, &mut from_one, 1)?;
        assert_eq!(from_one.to_vec(stream)?, [1; 3]);

        // Element j of rank i goes to rank j.
        let parts = stream.upload(&[100 * rank, 100 * rank + 1, 100 * rank + 2], [3])?;
        let mut theirs = stream.empty([3])?;
        comm.all_to_all(stream, &parts, &mut theirs)?;
        assert_eq!(theirs.to_vec(stream)?, [rank, 100 + rank, 200 + rank]);

        let sums = stream.upload(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [6])?;
        let mut part = stream.empty([2])?;
        comm.reduce_scatter(stream, &sums, &mut part, ReduceOp::Sum)?;
        let base = f32::from(rank) * 6.0;
        assert_eq!(part.to_vec(stream)?, [base + 3.0, base + 6.0]);

        comm.barrier(stream)?;
        comm.wait(stream)?;
        // Around in a circle; `bool` has no sum, and is moved.
        let (next, before) = ((comm.rank() + 1) % 3, (comm.rank() + 2) % 3);
        let token = stream.upload(&[rank == 0, true], [2])?;
        let mut received = stream.zeros::<bool, 1>([2])?;
        Comm::group(|| {
            comm.send(stream, &token, next)?;
            comm.recv(stream, &mut received, before)
        })?;
        received.to_vec(stream)
    })?;
    assert_eq!(results, [[false, true], [true, true], [false, true]]);
    Ok(())
}

#[test]
fn sends_keep_their_order_and_wait_for_nobody_else() -> Result<()> {
    let received = all(3, |comm, stream| {
        let mut value = stream.zeros::<i32, 1>([1])?;
        match comm.rank() {
            0 => (1..=3).try_for_each(|i| comm.send(stream, &stream.full([1], i)?, 2))?,
            1 => comm.send(stream, &stream.full([1], 100)?, 2)?,
            _ => {
                let mut sum: Vec<i32> = Vec::new();
                for from in [1, 0, 0, 0] {
                    comm.recv(stream, &mut value, from)?;
                    sum.extend(value.to_vec(stream)?);
                }
                return Ok(sum);
            }
        }
        Ok(Vec::new())
    })?;
    assert_eq!(received[2], [100, 1, 2, 3]);
    Ok(())
}

#[test]
fn one_thread_acts_for_all_ranks_in_a_group() -> Result<()> {
    let comms = Comm::in_process(&devices(2)?)?;
    let streams = [comms[0].device().stream()?, comms[1].device().stream()?];
    let mut x = [streams[0].full([2], 1u32)?, streams[1].full([2], 2u32)?];
    let z = [streams[0].full([2], 5u32)?, streams[1].full([2], 6u32)?];
    let mut y = [streams[0].zeros([4])?, streams[1].zeros([4])?];
    Comm::group(|| {
        for (rank, comm) in comms.iter().enumerate() {
            comm.all_reduce_in_place(&streams[rank], &mut x[rank], ReduceOp::Sum)?;
            // What is called within is a part of it.
            Comm::group(|| comm.all_gather(&streams[rank], &z[rank], &mut y[rank]))?;
        }
        Ok(())
    })?;
    assert_eq!(x[1].to_vec(&streams[1])?, [3, 3]);
    assert_eq!(y[0].to_vec(&streams[0])?, [5, 5, 6, 6]);

    // They run at once: none has what another one writes.
    let error = Comm::group(|| {
        for (rank, comm) in comms.iter().enumerate() {
            comm.all_reduce_in_place(&streams[rank], &mut x[rank], ReduceOp::Sum)?;
            comm.all_gather(&streams[rank], &x[rank], &mut y[rank])?;
        }
        Ok(())
    });
    assert_eq!(
        error.expect_err("one reads the sum").to_string(),
        "group needs operations that do not depend on one another, not all_reduce, and all_gather on the same elements"
    );

    // A closure that fails has done nothing, and the ranks are where they were.
    let error = Comm::group(|| {
        comms[0].all_reduce_in_place(&streams[0], &mut x[0], ReduceOp::Sum)?;
        streams[0].write(&mut x[0], &[1, 2, 3])
    });
    assert!(matches!(error, Err(Error::Length { .. })), "{error:?}");
    Comm::group(|| {
        comms[0].all_reduce_in_place(&streams[0], &mut x[0], ReduceOp::Product)?;
        comms[1].all_reduce_in_place(&streams[1], &mut x[1], ReduceOp::Product)
    })?;
    assert_eq!(x[0].to_vec(&streams[0])?, [9, 9]);

    // Nor has one within another that goes on.
    Comm::group(|| {
        let inner: Result<()> = Comm::group(|| {
            comms[0].all_reduce_in_place(&streams[0], &mut x[0], ReduceOp::Sum)?;
            streams[0].write(&mut x[0], &[1, 2, 3])
        });
        assert!(matches!(inner, Err(Error::Length { .. })), "{inner:?}");
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            Comm::group(|| -> Result<()> {
                comms[0].all_reduce_in_place(&streams[0], &mut x[0], ReduceOp::Sum)?;
                panic!("on purpose")
            })
        }));
        assert!(panicked.is_err());
        comms[0].all_reduce_in_place(&streams[0], &mut x[0], ReduceOp::Min)?;
        comms[1].all_reduce_in_place(&streams[1], &mut x[1], ReduceOp::Min)
    })?;
    assert_eq!(x[0].to_vec(&streams[0])?, [9, 9]);
    Ok(())
}

#[test]
fn a_thread_that_waits_for_its_own_other_rank_gets_an_error() -> Result<()> {
    let comms = Comm::in_process(&devices(2)?)?.into_iter();
    let comms: Vec<_> = comms.map(|comm| comm.with_timeout(SHORT)).collect();
    let stream = comms[0].device().stream()?;
    let error = comms[0].barrier(&stream).expect_err("rank 1 has not come");
    assert_eq!(error.to_string(), "barrier was not done within 0.05 s: rank 1 has not called it");
    // The group is over for the other one too.
    let stream = comms[1].device().stream()?;
    let error = comms[1].barrier(&stream).expect_err("the group is over");
    assert!(matches!(&error, Error::Comm(cause) if matches!(**cause, CommError::Timeout { .. })));
    assert_eq!(comms[1].wait(&stream).expect_err("likewise").to_string(), error.to_string());
    Ok(())
}

#[test]
fn recorded_operations_run_with_each_launch() -> Result<()> {
    let results = all(2, |comm, stream| {
        let mut x = stream.full([2], if comm.rank() == 0 { 1.0f32 } else { 2.0 })?;
        let mut y = stream.zeros([4])?;
        let graph = comm.device().capture(|stream| {
            comm.all_reduce_in_place(stream, &mut x, ReduceOp::Sum)?;
            Comm::group(|| comm.all_gather(stream, &x, &mut y))
        })?;
        assert_eq!(y.to_vec(stream)?, [0.0; 4]);
        graph.launch(stream)?;
        assert_eq!(y.to_vec(stream)?, [3.0; 4]);
        drop(x);
        graph.launch(stream)?;
        y.to_vec(stream)
    })?;
    assert_eq!(results, [[6.0; 4], [6.0; 4]]);
    Ok(())
}

#[test]
fn operations_that_differ_are_an_error_on_every_rank() -> Result<()> {
    let lengths = ranks(3, LONG, |comm, stream| {
        let mut x = stream.zeros::<f32, 1>([if comm.rank() == 1 { 5 } else { 4 }])?;
        comm.all_reduce_in_place(stream, &mut x, ReduceOp::Sum)
    })?;
    for error in errors(lengths) {
        let text = error.to_string();
        assert!(matches!(error, CommError::Mismatch { .. }), "{text}");
        assert!(text.contains("rank 1"), "{text}");
        assert!(text.contains("all_reduce (sum) of 5 f32"), "{text}");
        assert!(text.contains("all_reduce (sum) of 4 f32"), "{text}");
    }
    let calls = ranks(2, LONG, |comm, stream| {
        let mut x = stream.zeros::<f32, 1>([4])?;
        let op = if comm.rank() == 0 { ReduceOp::Min } else { ReduceOp::Max };
        comm.all_reduce_in_place(stream, &mut x, op)
    })?;
    for error in errors(calls) {
        assert!(matches!(error, CommError::Mismatch { .. }), "{error}");
    }
    let types = ranks(2, LONG, |comm, stream| match comm.rank() {
        0 => comm.send(stream, &stream.zeros::<u32, 1>([2])?, 1),
        _ => comm.recv(stream, &mut stream.zeros::<i32, 1>([2])?, 0),
    })?;
    for error in errors(types) {
        assert_eq!(
            error.to_string(),
            "the ranks do not agree: rank 0 calls send (to rank 1) of 2 u32, rank 1 recv (from rank 0) of 2 i32"
        );
    }
    Ok(())
}

#[test]
fn a_rank_that_does_not_come_is_named_on_every_rank() -> Result<()> {
    // Rank 2 does other things until the group has failed.
    let results = ranks(4, SHORT, |comm, stream| {
        if comm.rank() != 2 {
            return comm.barrier(stream);
        }
        while comm.failure().is_none() {
            thread::yield_now();
        }
        comm.wait(stream)
    })?;
    let errors = errors(results);
    for error in &errors {
        // The first whose limit is over says who has not come; a slow rank may be among them.
        let CommError::Timeout { operation, cause, .. } = error else { panic!("{error}") };
        assert_eq!(operation, "barrier");
        assert!(cause.contains('2') && cause.contains("called it"), "{cause}");
        assert_eq!(error, &errors[0]);
    }
    Ok(())
}

#[test]
fn a_receive_without_its_send_is_an_error() -> Result<()> {
    let results = ranks(2, SHORT, |comm, stream| {
        comm.recv(stream, &mut stream.zeros::<i32, 1>([2])?, 1 - comm.rank())
    })?;
    for error in errors(results) {
        assert!(error.to_string().contains("has not called it"), "{error}");
    }
    Ok(())
}

/// With a limit of two minutes: the others are told at once.
#[test]
fn a_rank_that_leaves_is_lost_to_the_others() -> Result<()> {
    let results = ranks(3, LONG, |comm, stream| {
        if comm.rank() == 1 {
            return Err(Error::Comm(Box::new(CommError::Aborted { rank: 77 })));
        }
        comm.barrier(stream)
    })?;
    let errors = errors(results);
    let lost = CommError::Lost { rank: 1, cause: "it has left the group".to_owned() };
    assert_eq!((&errors[0], &errors[2]), (&lost, &lost));
    Ok(())
}

#[test]
fn a_rank_that_has_all_it_needs_may_leave_before_the_others() -> Result<()> {
    let results = ranks(2, LONG, |comm, stream| {
        let mut x = stream.full([1], 1i32)?;
        comm.all_reduce_in_place(stream, &mut x, ReduceOp::Sum)?;
        if comm.rank() == 0 {
            return x.to_vec(stream);
        }
        thread::sleep(Duration::from_millis(10));
        x.to_vec(stream)
    })?;
    assert_eq!(results.into_iter().collect::<Result<Vec<_>>>()?, [[2], [2]]);
    Ok(())
}

#[test]
fn an_abort_reaches_whoever_waits() -> Result<()> {
    let results = ranks(2, LONG, |comm, stream| {
        if comm.rank() == 1 {
            comm.abort();
        }
        comm.barrier(stream)
    })?;
    for error in errors(results) {
        assert_eq!(error, CommError::Aborted { rank: 1 });
    }
    Ok(())
}

#[test]
fn what_does_not_fit_is_refused_before_anybody_waits() -> Result<()> {
    let devices = devices(2)?;
    let comm = &Comm::in_process(&devices)?[0];
    let stream = comm.device().stream()?;
    let (a, mut b) = (stream.zeros::<f32, 1>([3])?, stream.zeros::<f32, 1>([4])?);
    let text = |result: Result<()>| result.expect_err("it does not fit").to_string();
    assert_eq!(
        text(comm.all_gather(&stream, &a, &mut b)),
        "all_gather needs 6 elements (those of all ranks in the result, of 2 ranks), not 4"
    );
    assert!(text(comm.all_reduce(&stream, &a, &mut b, ReduceOp::Sum)).contains("3 elements"));
    let sum = ReduceOp::Sum;
    assert!(text(comm.reduce_scatter(&stream, &a, &mut b, sum)).contains("8 elements"));
    let mut c = stream.zeros::<f32, 1>([3])?;
    assert!(text(comm.all_to_all(&stream, &a, &mut c)).contains("2 elements (a multiple"));
    assert_eq!(text(comm.send(&stream, &a, 2)), "send needs a rank below 2, not 2");
    assert_eq!(text(comm.broadcast(&stream, &mut b, 9)), "broadcast needs a rank below 2, not 9");
    let mut short = stream.zeros::<i16, 1>([2])?;
    assert_eq!(
        text(comm.all_reduce_in_place(&stream, &mut short, sum)),
        "all_reduce needs elements of i8, u8, i32, u32, i64, u64, f16, bf16, f32, f64, e4m3, e5m2, not i16"
    );
    let other = devices[1].stream()?;
    assert!(text(comm.barrier(&other)).contains("a stream of emulator for sm_80, the rank's"));
    let mut elsewhere = other.zeros::<f32, 1>([3])?;
    let error = comm.all_reduce(&stream, &a, &mut elsewhere, sum).expect_err("on rank 1's device");
    assert!(matches!(error, Error::StreamOfAnotherDevice { operation: "all_reduce", .. }));
    let square = stream.zeros::<f32, 2>([2, 2])?;
    let error = comm.send(&stream, &square.transpose(), 1).expect_err("not contiguous");
    assert!(matches!(error, Error::NotContiguous { operation: "send", .. }), "{error}");
    // The group is as it was.
    assert_eq!(comm.failure(), None);
    Ok(())
}

#[test]
fn groups_of_no_device_or_one_twice_are_refused() -> Result<()> {
    let device = Device::emulator(Target::Sm80)?;
    let text = |devices: &[Device]| Comm::in_process(devices).expect_err("refused").to_string();
    assert_eq!(text(&[]), "in_process needs one device or more, not none");
    assert_eq!(
        text(&[device.clone(), device.clone()]),
        "in_process needs devices that differ, not emulator for sm_80 twice"
    );
    let alone = Comm::in_process(std::slice::from_ref(&device))?;
    let stream = device.stream()?;
    let mut x = stream.full([2], 7i32)?;
    alone[0].all_reduce_in_place(&stream, &mut x, ReduceOp::Average)?;
    assert_eq!(x.to_vec(&stream)?, [7, 7]);
    Ok(())
}

#[test]
fn tensors_without_elements_are_exchanged() -> Result<()> {
    all(2, |comm, stream| {
        let (from, mut to) = (stream.zeros::<f32, 2>([0, 3])?, stream.zeros::<f32, 1>([0])?);
        comm.all_gather(stream, &from, &mut to)?;
        comm.all_reduce_in_place(stream, &mut to, ReduceOp::Max)
    })?;
    Ok(())
}
