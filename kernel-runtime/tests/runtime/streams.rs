//! Streams, events, and tensors that move between streams.

use crate::{
    devices,
    kernels::{Args, scaled_sum},
};
use kernel_runtime::{Device, Error, Result, Target};

#[test]
fn a_tensor_moves_between_streams() -> Result<()> {
    for device in devices::all()? {
        let (first, second) = (device.stream()?, device.stream()?);
        let a = first.upload(&[1.0f32, 2.0, 3.0], [3])?;
        let mut c = second.empty([3])?;
        scaled_sum(Args { a: &a, b: &a, c: &mut c, scale: 1.0, negate: false }).launch(&second)?;
        scaled_sum(Args { a: &a, b: &a, c: &mut c, scale: 3.0, negate: false }).launch(&first)?;
        drop(a);
        assert_eq!(c.to_vec(&second)?, [4.0, 8.0, 12.0]);
        drop((first, second));
        assert_eq!(c.to_vec(&device.stream()?)?, [4.0, 8.0, 12.0]);
    }
    Ok(())
}

#[test]
fn events_measure_and_order() -> Result<()> {
    for device in devices::all()? {
        let (stream, other) = (device.stream()?, device.stream()?);
        let start = stream.record()?;
        let end = stream.record()?;
        other.wait(&end)?;
        end.synchronize()?;
        other.synchronize()?;
        assert!(end.is_done()?);
        assert!(start.elapsed_ms(&end)? >= 0.0);
        assert!(end.elapsed_ms(&start)? <= 0.0);
    }
    Ok(())
}

#[test]
fn events_of_two_devices_have_an_order_and_no_common_clock() -> Result<()> {
    let (one, two) = (Device::emulator(Target::Sm80)?, Device::emulator(Target::Sm90a)?);
    let (stream, event) = (one.stream()?, two.stream()?.record()?);
    stream.wait(&event)?;
    let error = stream.record()?.elapsed_ms(&event).expect_err("two clocks");
    let Error::EventsOfTwoDevices { required, actual } = error else { panic!("{error:?}") };
    assert_eq!(required, "emulator for sm_80");
    assert_eq!(actual, "emulator for sm_90a");
    Ok(())
}
