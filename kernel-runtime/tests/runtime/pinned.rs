//! Pinned memory: copies that the host does not wait for, and guards that do.

use crate::devices;
use kernel_runtime::{Device, Error, Result, Target};

#[test]
fn elements_go_to_the_device_and_back() -> Result<()> {
    for device in devices::all()? {
        let stream = device.stream()?;
        let (from, to) = (device.pinned::<i64>(1000)?, device.pinned::<i64>(1000)?);
        assert_eq!(*to.read()?, [0; 1000]);
        for (index, element) in (0..).zip(from.write()?.iter_mut()) {
            *element = index * index;
        }
        let mut tensor = stream.empty([10, 100])?;
        stream.upload_async(&mut tensor, &from)?;
        stream.download_async(&tensor, &to)?;
        assert_eq!(to.read()?[999], 998_001);
        assert_eq!(*to.read()?, *from.read()?);
    }
    Ok(())
}

#[test]
fn copies_on_two_streams_take_their_turns() -> Result<()> {
    for device in devices::all()? {
        let (one, two) = (device.stream()?, device.stream()?);
        let memory = device.pinned::<u32>(1 << 20)?;
        let a = one.full([1 << 20], 1u32)?;
        let b = two.full([1 << 20], 2u32)?;
        let mut c = one.empty([1 << 20])?;
        one.download_async(&a, &memory)?;
        two.download_async(&b, &memory)?;
        one.upload_async(&mut c, &memory)?;
        memory.write()?.fill(3);
        assert_eq!(c.to_vec(&two)?, vec![2; 1 << 20]);
    }
    Ok(())
}

#[test]
fn what_a_guard_shows_does_not_change() -> Result<()> {
    let device = Device::emulator(Target::Sm80)?;
    let stream = device.stream()?;
    let memory = device.pinned::<u8>(4)?;
    let mut tensor = stream.zeros([4])?;
    {
        let (_one, _two) = (memory.read()?, memory.read()?);
        assert!(matches!(memory.write(), Err(Error::PinnedInUse)));
        assert!(matches!(stream.download_async(&tensor, &memory), Err(Error::PinnedInUse)));
        stream.upload_async(&mut tensor, &memory)?;
    }
    {
        let _writer = memory.write()?;
        assert!(matches!(memory.read(), Err(Error::PinnedInUse)));
        assert!(matches!(stream.download_async(&tensor, &memory), Err(Error::PinnedInUse)));
        assert!(matches!(stream.upload_async(&mut tensor, &memory), Err(Error::PinnedInUse)));
    }
    stream.download_async(&tensor, &memory)
}

#[test]
fn lengths_and_devices_have_to_fit() -> Result<()> {
    let (here, there) = (Device::emulator(Target::Sm80)?, Device::emulator(Target::Sm80)?);
    let stream = here.stream()?;
    let mut tensor = stream.zeros::<f32, 2>([2, 3])?;
    let error = stream.upload_async(&mut tensor, &here.pinned(5)?).expect_err("one is missing");
    assert_eq!(error.to_string(), "upload_async: the shape [2, 3] has 6 elements, the slice 5");
    let error = stream.download_async(&tensor, &there.pinned(6)?).expect_err("another device");
    assert!(matches!(error, Error::StreamOfAnotherDevice { .. }), "{error}");
    assert!(here.pinned::<f32>(0)?.is_empty());
    stream.upload_async(&mut stream.zeros::<f32, 1>([0])?, &here.pinned(0)?)
}

#[test]
fn a_tensor_goes_into_a_slice() -> Result<()> {
    for device in devices::all()? {
        let stream = device.stream()?;
        let tensor = stream.upload(&[1u16, 2, 3, 4, 5, 6], [2, 3])?;
        let mut values = [0; 6];
        stream.download_into(&tensor, &mut values)?;
        assert_eq!(values, [1, 2, 3, 4, 5, 6]);
        let columns = tensor.transpose();
        stream.download_into(&columns, &mut values)?;
        assert_eq!(values, [1, 4, 2, 5, 3, 6]);
        let flags = stream.upload(&[true, false], [2])?;
        let mut there = [false; 2];
        stream.download_into(&flags, &mut there)?;
        assert_eq!(there, [true, false]);
        let error = stream.download_into(&tensor, &mut values[..5]).expect_err("too short");
        assert!(matches!(error, Error::Length { required: 6, actual: 5, .. }), "{error}");
    }
    Ok(())
}
