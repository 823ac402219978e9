//! Devices and the choice between them.

use kernel_runtime::{Device, Error, Result, Target};

/// What a test of results runs on: a fresh emulator, and the first GPU where there is one.
pub(crate) fn all() -> Result<Vec<Device>> {
    with(Target::Sm80)
}

/// As [`all`], for code of a target: the emulator of that target, and the first GPU where it runs such code.
pub(crate) fn with(target: Target) -> Result<Vec<Device>> {
    let gpu = Device::cuda(0).into_iter().filter(|gpu| gpu.runs(target));
    Ok(std::iter::once(Device::emulator(target)?).chain(gpu).collect())
}

#[test]
fn emulators_are_devices_of_their_own() -> Result<()> {
    let one = Device::emulator(Target::Sm90a)?;
    let two = Device::emulator(Target::Sm90a)?;
    assert_ne!(one, two);
    assert_eq!(one, one.clone());
    assert!(one.is_emulator());
    assert_eq!(one.name(), "emulator for sm_90a");
    assert_eq!(one.to_string(), "emulator for sm_90a");
    assert_eq!(one.stream()?.device(), &one);
    Ok(())
}

#[test]
fn a_capability_runs_its_own_target_and_the_portable_one() {
    let runs = |capability| {
        [Target::Sm80, Target::Sm90a, Target::Sm100a].map(|target| target.runs_on(capability))
    };
    assert_eq!(runs((7, 5)), [false, false, false]);
    assert_eq!(runs((8, 0)), [true, false, false]);
    assert_eq!(runs((8, 9)), [true, false, false]);
    assert_eq!(runs((9, 0)), [true, true, false]);
    assert_eq!(runs((10, 0)), [true, false, true]);
    assert_eq!(runs((10, 3)), [true, false, false]);
    assert_eq!(runs((12, 0)), [true, false, false]);
}

#[test]
fn emulators_have_the_limits_of_their_target() -> Result<()> {
    let shared = |target| Device::emulator(target).map(|d| d.properties().shared_bytes_per_block);
    assert_eq!(shared(Target::Sm80)?, 166_912);
    assert_eq!(shared(Target::Sm90a)?, 232_448);
    assert_eq!(shared(Target::Sm100a)?, 232_448);
    Ok(())
}

/// A machine without a driver gets a typed error, one with a driver a count; neither panics.
#[test]
fn a_gpu_that_is_not_there_is_an_error() {
    match (Device::cuda_count(), Device::cuda(1_000_000)) {
        (Ok(count), Err(Error::NoSuchDevice { ordinal, count: actual })) => {
            assert_eq!((ordinal, actual), (1_000_000, count));
        }
        (Err(Error::DriverMissing { library }), Err(error)) => {
            assert!(library.contains("cuda"), "{library}");
            assert!(error.to_string().starts_with("no CUDA driver"), "{error}");
        }
        #[cfg(not(feature = "cuda"))]
        (Err(Error::BackEndDisabled { back_end }), Err(Error::BackEndDisabled { .. })) => {
            assert_eq!(back_end, "cuda");
        }
        (Err(Error::DriverTooOld { .. } | Error::Driver { .. }), Err(_)) => {}
        (count, device) => panic!("{count:?}, {device:?}"),
    }
}

/// Without a GPU the choice falls on the emulator of the newest target, and says why.
#[test]
fn the_choice_keeps_its_reason() -> Result<()> {
    let device = Device::best_for(&[Target::Sm80, Target::Sm90a])?;
    let text = device.to_string();
    assert_eq!(device, Device::best_for(&[Target::Sm90a])?, "one device for each choice");
    if std::env::var_os("KILN_DEVICE").is_some() {
        assert!(text.contains("KILN_DEVICE is"), "{text}");
    } else if let Err(no_gpu) = Device::cuda_count() {
        assert_eq!(text, format!("emulator for sm_90a ({no_gpu})"));
    } else {
        assert!(text.contains("(runs sm_") || text.contains("GPU"), "{text}");
    }
    Ok(())
}

#[test]
fn a_kernel_without_targets_has_no_device() {
    let error = Device::best_for(&[]).expect_err("no device runs nothing");
    assert!(matches!(error, Error::NoDevice { .. }), "{error:?}");
}

#[test]
fn tensors_are_copied_between_devices() -> Result<()> {
    let (one, two) = (Device::emulator(Target::Sm80)?, Device::emulator(Target::Sm90a)?);
    let (here, there) = (one.stream()?, two.stream()?);
    let a = here.upload(&[1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
    let mut b = there.zeros([2, 2])?;
    here.copy(&a, &mut b)?;
    assert_eq!(b.to_vec(&there)?, [1.0, 2.0, 3.0, 4.0]);
    // A part of it, by the stream of the other device.
    let (from, mut to) = (a.slice(0, 0..1)?, b.slice_mut(0, 1..2)?);
    there.copy(&from, &mut to)?;
    assert_eq!(b.to_vec(&there)?, [1.0, 2.0, 1.0, 2.0]);

    let elsewhere = Device::emulator(Target::Sm80)?.stream()?;
    let error = elsewhere.copy(&a, &mut b).expect_err("a stream of a third device");
    assert!(matches!(error, Error::StreamOfAnotherDevice { operation: "copy", .. }), "{error}");
    let error = here.copy(&a.transpose(), &mut b).expect_err("columns");
    assert!(matches!(error, Error::NotContiguous { .. }), "{error}");
    let error = one.capture(|stream| stream.copy(&a, &mut b)).expect_err("two devices");
    assert!(
        matches!(error, Error::NotInGraph { operation: "a copy between devices", .. }),
        "{error}"
    );
    Ok(())
}

#[test]
fn emulated_devices_do_not_reach_each_others_memory() -> Result<()> {
    let (one, two) = (Device::emulator(Target::Sm80)?, Device::emulator(Target::Sm80)?);
    one.enable_peer(&one)?;
    let error = one.enable_peer(&two).expect_err("memory of its own");
    assert_eq!(
        error.to_string(),
        "kernels on emulator for sm_80 cannot reach the memory of another emulator for sm_80: copy the tensor"
    );
    Ok(())
}
