//! Graphs: what is recorded runs when it is launched, as often as it is, on the arguments that it was recorded with.

use crate::{
    devices,
    kernels::{Args, scaled_sum},
};
use kernel_runtime::{Device, Error, Result, Target};
use std::thread;

#[test]
fn recorded_work_runs_with_each_launch() -> Result<()> {
    for device in devices::all()? {
        let (stream, other) = (device.stream()?, device.stream()?);
        let a = stream.upload(&[1.0f32, 2.0, 3.0], [3])?;
        let mut sum = stream.zeros([3])?;
        let mut copy = stream.zeros([3])?;
        let mut wide = stream.zeros::<f64, 1>([5])?;
        let mut graph = device.capture(|stream| {
            // The kernel that writes `sum` reads what the copy has left of the launch before.
            scaled_sum(Args { a: &copy, b: &a, c: &mut sum, scale: 10.0, negate: false })
                .launch(stream)?;
            stream.copy(&sum, &mut copy)?;
            stream.fill(&mut wide, 0.1)
        })?;
        assert_eq!(copy.to_vec(&stream)?, [0.0; 3]);
        graph.launch(&stream)?;
        assert_eq!(copy.to_vec(&other)?, [10.0, 20.0, 30.0]);
        assert_eq!(wide.to_vec(&other)?, [0.1; 5]);
        graph.launch(&other)?;
        graph.launch(&stream)?;
        assert_eq!(copy.to_vec(&stream)?, [30.0, 60.0, 90.0]);

        // Other scalars and tensors: the driver changes arguments.
        let b = stream.upload(&[5.0f32, 5.0, 5.0], [3])?;
        graph.update(|stream| {
            scaled_sum(Args { a: &copy, b: &b, c: &mut sum, scale: 1.0, negate: true })
                .launch(stream)?;
            stream.copy(&sum, &mut copy)?;
            stream.fill(&mut wide, 0.2)
        })?;
        drop((a, b));
        graph.launch(&stream)?;
        assert_eq!(copy.to_vec(&stream)?, [-35.0, -65.0, -95.0]);
        assert_eq!(wide.to_vec(&stream)?, [0.2; 5]);

        // Other work altogether.
        graph.update(|stream| stream.fill(&mut copy, 1.0))?;
        graph.launch(&stream)?;
        assert_eq!(copy.to_vec(&stream)?, [1.0; 3]);
        assert_eq!(sum.to_vec(&stream)?, [-35.0, -65.0, -95.0]);
    }
    Ok(())
}

#[test]
fn a_launch_on_another_stream_is_not_recorded() -> Result<()> {
    let device = Device::emulator(Target::Sm80)?;
    let outer = device.stream()?;
    let a = outer.upload(&[1.0f32, 2.0, 3.0], [3])?;
    let mut sum = outer.zeros([3])?;
    let error = device
        .capture(|_| {
            let c = &mut sum;
            scaled_sum(Args { a: &a, b: &a, c, scale: 1.0, negate: false }).launch(&outer)
        })
        .expect_err("nothing is on the stream of the capture");
    assert!(error.to_string().contains("a launch on another stream, which has run,"), "{error}");
    assert_eq!(sum.to_vec(&outer)?, [2.0, 4.0, 6.0]);

    // Beside work that is recorded, other streams go on as always.
    let mut other = outer.zeros([3])?;
    let graph = device.capture(|stream| {
        let c = &mut other;
        scaled_sum(Args { a: &a, b: &a, c, scale: 1.0, negate: false }).launch(&outer)?;
        let c = &mut sum;
        scaled_sum(Args { a: &a, b: &a, c, scale: 1.0, negate: false }).launch(stream)
    })?;
    outer.fill(&mut sum, 0.0)?;
    graph.launch(&outer)?;
    assert_eq!(sum.to_vec(&outer)?, [2.0, 4.0, 6.0]);
    Ok(())
}

#[test]
fn a_graph_holds_the_memory_that_it_uses() -> Result<()> {
    for device in devices::all()? {
        let stream = device.stream()?;
        let mut out = stream.zeros::<f32, 1>([1000])?;
        let graph = {
            let inner = stream.full([1000], 3.0f32)?;
            device.capture(|stream| stream.copy(&inner, &mut out))?
        };
        let others: Vec<_> = (0..8).map(|_| stream.full([1000], 9.0f32)).collect::<Result<_>>()?;
        graph.launch(&stream)?;
        assert_eq!(out.to_vec(&stream)?, vec![3.0; 1000]);
        drop(others);
    }
    Ok(())
}

#[test]
fn pinned_copies_are_part_of_a_graph() -> Result<()> {
    for device in devices::all()? {
        let stream = device.stream()?;
        let (input, output) = (device.pinned::<f32>(4)?, device.pinned::<f32>(4)?);
        let (mut x, mut y) = (stream.zeros([4])?, stream.zeros([4])?);
        let graph = device.capture(|stream| {
            stream.upload_async(&mut x, &input)?;
            scaled_sum(Args { a: &x, b: &x, c: &mut y, scale: 1.0, negate: false })
                .launch(stream)?;
            stream.download_async(&y, &output)
        })?;
        for round in 0u8..3 {
            input.write()?.fill(f32::from(round));
            graph.launch(&stream)?;
            assert_eq!(*output.read()?, [2.0 * f32::from(round); 4]);
        }
        let held = output.read()?;
        let error = graph.launch(&stream).expect_err("the host looks at the output");
        assert!(matches!(error, Error::PinnedInUse), "{error}");
        drop(held);
        graph.launch(&stream)?;
    }
    Ok(())
}

#[test]
fn what_cannot_be_recorded_is_refused() -> Result<()> {
    let device = Device::emulator(Target::Sm80)?;
    let stream = device.stream()?;
    let mut a = stream.zeros::<f32, 1>([3])?;
    let event = stream.record()?;
    let refused = |work: &mut dyn FnMut(&kernel_runtime::Stream) -> Result<()>| {
        let error = device.capture(work).expect_err("it cannot be part of a graph");
        let Error::NotInGraph { operation, .. } = error else { panic!("{error}") };
        operation
    };
    assert_eq!(refused(&mut |stream| stream.zeros::<f32, 1>([3]).map(drop)), "an allocation");
    assert_eq!(refused(&mut |stream| a.to_vec(stream).map(drop)), "to_vec");
    assert_eq!(refused(&mut |stream| stream.write(&mut a, &[1.0; 3])), "write");
    assert_eq!(refused(&mut |stream| stream.synchronize()), "synchronize");
    assert_eq!(refused(&mut |stream| stream.record().map(drop)), "record");
    assert_eq!(refused(&mut |stream| stream.wait(&event)), "wait");
    let inner = device.capture(|stream| stream.fill(&mut a, 1.0))?;
    assert_eq!(refused(&mut |stream| inner.launch(stream)), "the launch of a graph");
    // A stream that outlives its capture.
    let mut kept = None;
    device.capture(|stream| {
        kept = Some(stream.clone());
        Ok(())
    })?;
    let kept = kept.expect("the closure has run");
    let error = kept.fill(&mut a, 2.0).expect_err("the capture is over");
    assert_eq!(
        error.to_string(),
        "work after the capture has ended cannot be recorded into a graph: keep the stream of a capture inside of it"
    );
    // The capture could end while another thread's work is on its way.
    let error = device.capture(|stream| {
        thread::scope(|scope| {
            let other = scope.spawn(|| stream.fill(&mut a, 1.0));
            other.join().expect("it does not panic")
        })
    });
    let error = error.expect_err("it is another thread's");
    assert_eq!(
        error.to_string(),
        "work of another thread cannot be recorded into a graph: put it on the stream in the thread that captures"
    );
    Ok(())
}

#[test]
fn a_capture_that_fails_leaves_everything_as_it_was() -> Result<()> {
    for device in devices::all()? {
        let stream = device.stream()?;
        let mut a = stream.zeros::<f32, 1>([3])?;
        let mut graph = device.capture(|stream| stream.fill(&mut a, 1.0))?;
        let error = graph.update(|stream| {
            stream.fill(&mut a, 2.0)?;
            stream.synchronize()
        });
        assert!(error.is_err());
        graph.launch(&stream)?;
        assert_eq!(a.to_vec(&stream)?, [1.0; 3]);
    }
    Ok(())
}

#[test]
fn a_graph_runs_on_its_own_device() -> Result<()> {
    let (one, two) = (Device::emulator(Target::Sm80)?, Device::emulator(Target::Sm80)?);
    let graph = one.capture(|_| Ok(()))?;
    graph.launch(&one.stream()?)?;
    let error = graph.launch(&two.stream()?).expect_err("another device");
    assert!(matches!(error, Error::StreamOfAnotherDevice { .. }), "{error}");
    Ok(())
}
