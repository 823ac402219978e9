//! Groups of GPUs by NCCL, with as many ranks as there are GPUs: one rank shows that NCCL is found and called as it should be; what moves
//! between ranks shows with two.

use kernel_runtime::{Comm, CommError, Device, Error, ReduceOp, Rendezvous, Result, Stream};
use std::{net::TcpListener, time::Duration};

pub(crate) const TESTS: &[super::Test] = &[
    ("nccl_does_every_operation", nccl_does_every_operation),
    ("nccls_operations_are_part_of_graphs", nccls_operations_are_part_of_graphs),
    ("one_process_joins_through_the_rendezvous", one_process_joins_through_the_rendezvous),
    ("a_group_that_was_aborted_says_so", a_group_that_was_aborted_says_so),
];

/// Why these tests cannot run, if they cannot: NCCL is missing or too old.
pub(crate) fn missing(device: &Device) -> Option<String> {
    match Comm::in_process(std::slice::from_ref(device)) {
        Err(error @ Error::Comm(_)) => Some(error.to_string()),
        // Another error is for the tests to show.
        Ok(_) | Err(_) => None,
    }
}

/// All GPUs of the machine in one group, each with a stream; used by this thread in groups.
fn gpus() -> Result<Vec<(Comm, Stream)>> {
    let devices = (0..Device::cuda_count()?).map(Device::cuda).collect::<Result<Vec<_>>>()?;
    let with_stream = |comm: Comm| {
        let stream = comm.device().stream()?;
        Ok((comm.with_timeout(LIMIT), stream))
    };
    Comm::in_process(&devices)?.into_iter().map(with_stream).collect()
}

/// Long enough for anything that works.
const LIMIT: Duration = Duration::from_secs(60);

fn nccl_does_every_operation(_: &Device) -> Result<()> {
    let ranks = gpus()?;
    let n = ranks.len();
    let number = |value: usize| f32::from(u16::try_from(value).expect("few ranks"));
    // Rank r has r + 1 everywhere: the sum is that of 1 to n.
    let sum = number(n * (n + 1) / 2);
    let own = |elements: usize| -> Result<Vec<_>> {
        let ranks = ranks.iter().enumerate();
        ranks.map(|(rank, (_, stream))| stream.full([elements], number(rank + 1))).collect()
    };
    let from = own(1000 * n)?;
    let mut to = own(1000 * n)?;
    for (op, required) in [
        (ReduceOp::Sum, sum),
        (ReduceOp::Product, (1..=n).map(number).product()),
        (ReduceOp::Min, 1.0),
        (ReduceOp::Max, number(n)),
        (ReduceOp::Average, sum / number(n)),
    ] {
        Comm::group(|| {
            let tensors = from.iter().zip(&mut to);
            ranks
                .iter()
                .zip(tensors)
                .try_for_each(|((comm, stream), (from, to))| comm.all_reduce(stream, from, to, op))
        })?;
        for ((comm, stream), to) in ranks.iter().zip(&to) {
            comm.wait(stream)?;
            assert_eq!(to.to_vec(stream)?, vec![required; 1000 * n], "{op:?}");
        }
    }
    let by_rank: Vec<f32> = (0..1000 * n).map(|i| number(i / 1000 + 1)).collect();
    let parts = own(1000)?;
    Comm::group(|| {
        let tensors = parts.iter().zip(&mut to);
        ranks
            .iter()
            .zip(tensors)
            .try_for_each(|((comm, stream), (from, to))| comm.all_gather(stream, from, to))
    })?;
    let mut exchanged = own(1000 * n)?;
    Comm::group(|| {
        let tensors = from.iter().zip(&mut exchanged);
        ranks
            .iter()
            .zip(tensors)
            .try_for_each(|((comm, stream), (from, to))| comm.all_to_all(stream, from, to))
    })?;
    let mut scattered = own(1000)?;
    Comm::group(|| {
        let tensors = from.iter().zip(&mut scattered);
        ranks.iter().zip(tensors).try_for_each(|((comm, stream), (from, to))| {
            comm.reduce_scatter(stream, from, to, ReduceOp::Sum)
        })
    })?;
    let mut last = own(10)?;
    Comm::group(|| {
        ranks
            .iter()
            .zip(&mut last)
            .try_for_each(|((comm, stream), tensor)| comm.broadcast(stream, tensor, n - 1))
    })?;
    let mut received = own(10)?;
    let sent = own(10)?;
    Comm::group(|| {
        for (rank, (comm, stream)) in ranks.iter().enumerate() {
            comm.send(stream, &sent[rank], (rank + 1) % n)?;
            comm.recv(stream, &mut received[rank], (rank + n - 1) % n)?;
        }
        Ok(())
    })?;
    Comm::group(|| ranks.iter().try_for_each(|(comm, stream)| comm.barrier(stream)))?;
    for (rank, (comm, stream)) in ranks.iter().enumerate() {
        comm.wait(stream)?;
        assert_eq!(to[rank].to_vec(stream)?, by_rank);
        assert_eq!(exchanged[rank].to_vec(stream)?, by_rank);
        assert_eq!(scattered[rank].to_vec(stream)?, vec![sum; 1000]);
        assert_eq!(last[rank].to_vec(stream)?, vec![number(n); 10]);
        assert_eq!(received[rank].to_vec(stream)?, vec![number((rank + n - 1) % n + 1); 10]);
    }
    Ok(())
}

fn nccls_operations_are_part_of_graphs(device: &Device) -> Result<()> {
    let comms = Comm::in_process(std::slice::from_ref(device))?;
    let [comm] = &comms[..] else { panic!("one device") };
    let stream = device.stream()?;
    let (mut x, mut y) = (stream.full([100], 2.0f32)?, stream.zeros([100])?);
    let graph = device.capture(|stream| {
        comm.all_reduce(stream, &x, &mut y, ReduceOp::Sum)?;
        comm.barrier(stream)?;
        stream.copy(&y, &mut x)
    })?;
    assert_eq!(y.to_vec(&stream)?, [0.0; 100]);
    // The group's work lives as long as the graph.
    drop(comms);
    graph.launch(&stream)?;
    stream.fill(&mut x, 5.0)?;
    graph.launch(&stream)?;
    assert_eq!(y.to_vec(&stream)?, [5.0; 100]);
    Ok(())
}

fn one_process_joins_through_the_rendezvous(device: &Device) -> Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has a free port");
    let address = listener.local_addr().expect("it is bound").to_string();
    drop(listener);
    let comm = Comm::init(device, &Rendezvous::new(0, 1, address))?;
    let stream = device.stream()?;
    let mut x = stream.full([3], 7u8)?;
    comm.all_reduce_in_place(&stream, &mut x, ReduceOp::Max)?;
    comm.wait(&stream)?;
    assert_eq!(x.to_vec(&stream)?, [7; 3]);
    Ok(())
}

fn a_group_that_was_aborted_says_so(device: &Device) -> Result<()> {
    let comms = Comm::in_process(std::slice::from_ref(device))?;
    let comm = &comms[0];
    let stream = device.stream()?;
    let mut x = stream.full([3], 1i64)?;
    comm.all_reduce_in_place(&stream, &mut x, ReduceOp::Sum)?;
    comm.abort();
    let error = comm.barrier(&stream).expect_err("the group is over");
    assert!(matches!(&error, Error::Comm(cause) if **cause == CommError::Aborted { rank: 0 }));
    assert!(comm.wait(&stream).is_err());
    // The device is as it was.
    stream.fill(&mut x, 4)?;
    assert_eq!(x.to_vec(&device.stream()?)?, [4; 3]);
    Ok(())
}
