//! Tensors over memory that Kiln did not allocate, and what is checked of it.

use crate::{
    devices,
    kernels::{Args, scaled_sum},
};
use kernel_runtime::{
    Device, DeviceTensor, Error, Result, Stream, Target, TensorView, TensorViewMut,
};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// Counts how often an owner was dropped.
struct Owner(Arc<AtomicUsize>);

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// The tensor's memory under another name, as another library would hand it over.
fn lent<const R: usize>(
    stream: &Stream,
    of: &DeviceTensor<f32, 1>,
    offset: u64,
    shape: [usize; R],
    strides: [usize; R],
) -> Result<TensorView<'static, f32, R>> {
    // SAFETY: the tests keep `of`, or expect an error.
    unsafe { TensorView::from_raw(stream, of.address() + offset, shape, strides, ()) }
}

#[test]
fn a_kernel_reads_and_writes_foreign_memory_in_place() -> Result<()> {
    for device in devices::all()? {
        let (theirs, ours) = (device.stream()?, device.stream()?);
        let memory = theirs.upload(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [6])?;
        let mut target = theirs.zeros::<f32, 1>([4])?;
        let drops = Arc::new(AtomicUsize::new(0));
        {
            // Every second element from the second one.
            let a = lent(&theirs, &memory, 4, [3], [2])?;
            let owner = Owner(Arc::clone(&drops));
            let address = target.address();
            // SAFETY: `target` lives longer, and is not used meanwhile.
            let mut c: TensorViewMut<'_, f32, 1> =
                unsafe { TensorViewMut::from_raw(&theirs, address, [3], [1], owner) }?;
            scaled_sum(Args { a: &a, b: &a, c: &mut c, scale: 2.0, negate: false })
                .launch(&ours)?;
            assert_eq!(drops.load(Ordering::SeqCst), 0);
        }
        assert_eq!(drops.load(Ordering::SeqCst), 1);
        assert_eq!(target.to_vec(&theirs)?, [6.0, 12.0, 18.0, 0.0]);
        theirs.fill(&mut target, 7.0)?;
        assert_eq!(target.to_vec(&ours)?, [7.0; 4]);
    }
    Ok(())
}

#[test]
fn foreign_memory_that_ends_too_soon_is_refused() -> Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let memory = stream.zeros::<f32, 1>([10])?;
    lent(&stream, &memory, 0, [2, 4], [6, 1])?;
    lent(&stream, &memory, 36, [1], [1])?;
    let error = lent(&stream, &memory, 4, [2, 4], [6, 1]).expect_err("one element too far");
    let address = memory.address();
    assert_eq!(
        error.to_string(),
        format!(
            "a tensor over memory of emulator for sm_80 needs 40 bytes of f32 at {:#x}: the allocation of 40 bytes at \
             {address:#x} has 36 bytes from there",
            address + 4
        )
    );
    assert!(matches!(error, Error::ForeignMemory { .. }));
    // No elements need no memory.
    assert!(lent(&stream, &memory, 4000, [2, 0], [6, 1])?.is_empty());
    Ok(())
}

#[test]
fn foreign_memory_has_to_be_aligned_and_there() -> Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let memory = stream.zeros::<f32, 1>([10])?;
    let error = lent(&stream, &memory, 2, [1], [1]).expect_err("an address between elements");
    assert!(error.to_string().ends_with("the address is no multiple of 4"), "{error}");
    // SAFETY: it is refused.
    let freed = unsafe {
        let address = memory.address();
        drop(memory);
        TensorView::<'_, f32, 1>::from_raw(&stream, address, [1], [1], ())
    };
    let error = freed.expect_err("the memory is gone");
    assert!(
        error.to_string().ends_with("nothing is allocated there, or it has been freed"),
        "{error}"
    );
    Ok(())
}

#[test]
fn strides_beyond_all_addresses_are_refused() -> Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let memory = stream.zeros::<f32, 1>([10])?;
    for strides in [[usize::MAX, 1], [usize::MAX / 4, 1], [1 << 62, 1 << 62]] {
        let error = lent(&stream, &memory, 0, [2, 2], strides).expect_err("no such address");
        assert!(matches!(error, Error::TooLarge { .. }), "{error}");
    }
    Ok(())
}

#[test]
fn two_names_of_one_memory_are_one_argument_too_many() -> Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let memory = stream.zeros::<f32, 1>([8])?;
    let a = lent(&stream, &memory, 0, [4], [1])?;
    // SAFETY: the launch that would use it beside `a` is refused.
    let mut c: TensorViewMut<'_, f32, 1> =
        unsafe { TensorViewMut::from_raw(&stream, memory.address() + 12, [4], [1], ()) }?;
    let args = Args { a: &a, b: &a, c: &mut c, scale: 1.0, negate: false };
    let error = scaled_sum(args).launch(&stream).expect_err("the fourth element is in both");
    assert!(matches!(error, Error::Aliased { argument: "c", other: "a", .. }), "{error}");
    Ok(())
}

#[test]
fn an_emulator_has_no_streams_of_others() -> Result<()> {
    let device = Device::emulator(Target::Sm80)?;
    assert_eq!(device.stream()?.raw(), None);
    // SAFETY: it is refused.
    let error = unsafe { Stream::from_raw(&device, std::ptr::null_mut(), ()) };
    assert!(matches!(error, Err(Error::ForeignContext { .. })), "{error:?}");
    Ok(())
}

#[test]
fn borrowed_memory_is_used_in_place_and_held_by_nobody() -> Result<()> {
    for device in devices::all()? {
        let (theirs, ours) = (device.stream()?, device.stream()?);
        let memory = theirs.upload(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [6])?;
        let mut sum = theirs.zeros::<f32, 1>([2])?;
        // SAFETY: `memory` lives longer. Its third and fifth element.
        let view: TensorView<'_, f32, 1> =
            unsafe { TensorView::from_borrowed(&theirs, memory.address() + 8, [2], [2]) }?;
        scaled_sum(Args { a: &view, b: &view, c: &mut sum, scale: 10.0, negate: false })
            .launch(&ours)?;
        assert_eq!(sum.to_vec(&ours)?, [33.0, 55.0]);

        let recorded = device.capture(|stream| {
            scaled_sum(Args { a: &view, b: &view, c: &mut sum, scale: 10.0, negate: false })
                .launch(stream)
        });
        let Err(Error::NotInGraph { operation, .. }) = recorded else {
            panic!("a graph would hold it")
        };
        assert_eq!(operation, "memory that another library lends");

        let address = sum.address();
        {
            // SAFETY: `sum` lives longer, and is not used meanwhile.
            let mut first: TensorViewMut<'_, f32, 1> =
                unsafe { TensorViewMut::from_borrowed(&theirs, address, [1], [1]) }?;
            ours.fill(&mut first, -1.0)?;
        }
        assert_eq!(sum.to_vec(&theirs)?, [-1.0, 55.0]);

        // SAFETY: nothing is there to be read.
        let empty: TensorView<'_, f32, 2> =
            unsafe { TensorView::from_borrowed(&theirs, 0, [0, 7], [7, 1]) }?;
        assert_eq!(empty.to_vec(&ours)?, [0.0; 0]);
        // SAFETY: it is refused.
        let large = unsafe {
            TensorView::<f32, 2>::from_borrowed(&theirs, memory.address(), [2, 2], [usize::MAX, 1])
        };
        assert!(matches!(large, Err(Error::TooLarge { .. })));
    }
    Ok(())
}
