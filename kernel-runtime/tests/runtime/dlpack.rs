//! Tensors from and to other libraries by DLPack. The structures of another library are made here, by hand.
#![expect(unsafe_code, reason = "DLPack is a C interface")]

use crate::devices;
use half::bf16;
use kernel_runtime::{
    AnyTensor, Device, Element, Error, Result, Target,
    dlpack::{
        DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion, DLTensor,
        Managed,
    },
    e2m1x2, e4m3, e5m2, ue8m0,
};
use std::{
    ffi::c_void,
    ptr::{NonNull, null_mut},
    sync::atomic::{AtomicUsize, Ordering},
};

/// What another library hands over: host memory with its shape and strides, and a count of deletions.
struct Theirs {
    data: Vec<i32>,
    shape: Vec<i64>,
    strides: Option<Vec<i64>>,
    deleted: AtomicUsize,
}

impl Theirs {
    fn new(data: &[i32], shape: &[i64], strides: Option<&[i64]>) -> Self {
        let (data, shape, strides) = (data.to_vec(), shape.to_vec(), strides.map(<[i64]>::to_vec));
        Self { data, shape, strides, deleted: AtomicUsize::new(0) }
    }

    fn tensor(&mut self) -> DLTensor {
        DLTensor {
            data: self.data.as_mut_ptr().cast(),
            device: DLDevice { device_type: 1, device_id: 0 },
            ndim: i32::try_from(self.shape.len()).expect("a few axes"),
            dtype: DLDataType { code: 0, bits: 32, lanes: 1 },
            shape: self.shape.as_mut_ptr(),
            strides: self.strides.as_mut().map_or(null_mut(), Vec::as_mut_ptr),
            byte_offset: 0,
        }
    }

    fn managed(&mut self, tensor: DLTensor) -> DLManagedTensorVersioned {
        DLManagedTensorVersioned {
            version: DLPackVersion { major: 1, minor: 0 },
            manager_ctx: (&raw mut self.deleted).cast::<c_void>(),
            deleter: Some(deleter),
            flags: 0,
            dl_tensor: tensor,
        }
    }

    fn deleted(&self) -> usize {
        self.deleted.load(Ordering::SeqCst)
    }
}

unsafe extern "C" fn deleter(managed: *mut DLManagedTensorVersioned) {
    // SAFETY: the structure lives in the test that made it.
    let context = unsafe { &*managed }.manager_ctx;
    // SAFETY: so does the count.
    let count = unsafe { &*context.cast::<AtomicUsize>() };
    count.fetch_add(1, Ordering::SeqCst);
}

#[test]
fn memory_of_the_host_is_copied_and_freed() -> Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let data = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
    for (shape, strides, offset, expected) in [
        (&[2, 3][..], None, 0, vec![0, 1, 2, 3, 4, 5]),
        (&[2, 3], Some(&[6, 2][..]), 1, vec![1, 3, 5, 7, 9, 11]),
        (&[3, 2], Some(&[1, 3]), 0, vec![0, 3, 1, 4, 2, 5]),
        (&[2, 2], Some(&[0, 1]), 4, vec![4, 5, 4, 5]),
    ] {
        let mut theirs = Theirs::new(&data, shape, strides);
        let mut tensor = theirs.tensor();
        tensor.byte_offset = 4 * offset;
        let mut managed = theirs.managed(tensor);
        // SAFETY: the structure is as `dlpack.h` says.
        let any = unsafe { AnyTensor::from_dlpack(&stream, NonNull::from(&mut managed)) }?;
        assert_eq!(theirs.deleted(), 1);
        assert_eq!(any.downcast::<i32, 2>()?.to_vec(&stream)?, expected);
    }
    Ok(())
}

/// What is changed in a structure, and what is said of it then.
type Case<'a> = (&'a dyn Fn(&mut DLManagedTensorVersioned), &'static str);

#[test]
fn what_kiln_has_no_tensor_for_is_refused_and_freed() -> Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let refused = |change: &dyn Fn(&mut DLManagedTensorVersioned)| {
        let mut theirs = Theirs::new(&[0; 16], &[2, 3], Some(&[3, 1]));
        let tensor = theirs.tensor();
        let mut managed = theirs.managed(tensor);
        change(&mut managed);
        // SAFETY: the structure is as `dlpack.h` says, but for what is refused before it is looked at.
        let result = unsafe { AnyTensor::from_dlpack(&stream, NonNull::from(&mut managed)) };
        assert_eq!(theirs.deleted(), 1);
        result.map(drop).expect_err("it cannot be a tensor").to_string()
    };
    let start = "a tensor over memory of emulator for sm_80 needs a tensor by DLPack that Kiln has a type for, in its memory: ";
    let mut negative = [-3, 1];
    let strides = negative.as_mut_ptr();
    let cases: [Case<'_>; 9] = [
        (&|m| m.version.major = 2, "version 2.0"),
        (&|m| m.dl_tensor.device.device_type = 2, "memory of device 0 of type 2"),
        (&|m| m.dl_tensor.dtype.lanes = 4, "4 numbers of 32 bits and type code 0"),
        (&|m| m.dl_tensor.dtype.code = 5, "1 numbers of 32 bits and type code 5"),
        (&|m| m.dl_tensor.ndim = -1, "-1 axes"),
        (&|m| m.dl_tensor.ndim = 1000, "1000 axes"),
        (&|m| m.dl_tensor.shape = null_mut(), "no extents for 2 axes"),
        (&|m| m.dl_tensor.strides = strides, "the strides [-3, 1]"),
        (&|m| m.dl_tensor.data = null_mut(), "no memory"),
    ];
    for (change, said) in cases {
        assert_eq!(refused(change), format!("{start}{said}"));
    }
    let mut huge = [i64::MAX, 3];
    let shape = huge.as_mut_ptr();
    assert_eq!(
        refused(&|m| m.dl_tensor.shape = shape),
        "the shape [9223372036854775807, 3] of i32 does not fit a 64-bit address space"
    );
    // One element, too many times.
    let (mut many, mut same) = ([1 << 62, 4], [0, 0]);
    let (shape, strides) = (many.as_mut_ptr(), same.as_mut_ptr());
    assert_eq!(
        refused(&|m| (m.dl_tensor.shape, m.dl_tensor.strides) = (shape, strides)),
        "the shape [4611686018427387904, 4] of i32 does not fit a 64-bit address space"
    );
    assert_eq!(
        refused(&|m| m.dl_tensor.byte_offset = u64::MAX),
        format!("{start}an offset behind the last address")
    );
    Ok(())
}

#[test]
fn a_tensor_goes_out_and_comes_in() -> Result<()> {
    fn both_ways<M: Managed + 'static>(device: &Device) -> Result<()> {
        let (ours, theirs) = (device.stream()?, device.stream()?);
        let tensor = ours.upload(&[1i64, 2, 3, 4, 5, 6], [2, 3])?;
        let address = tensor.address();
        let any = AnyTensor::from(tensor);
        let managed = any.to_dlpack::<M>(&theirs)?;
        drop(any);
        // SAFETY: it comes from above, and is used once.
        let back = unsafe { AnyTensor::from_dlpack(&theirs, managed) }?;
        assert_eq!(back.address() == address, !device.is_emulator());
        assert_eq!(back.shape(), [2, 3]);
        assert_eq!(back.as_tensor::<i64, 2>()?.to_vec(&ours)?, [1, 2, 3, 4, 5, 6]);
        Ok(())
    }
    for device in devices::all()? {
        both_ways::<DLManagedTensor>(&device)?;
        both_ways::<DLManagedTensorVersioned>(&device)?;
    }
    Ok(())
}

#[test]
fn every_element_type_goes_through() -> Result<()> {
    fn through<T: Element>(code: u8, bits: u8, lanes: u16) -> Result<()> {
        for device in devices::all()? {
            let stream = device.stream()?;
            let any = AnyTensor::from(stream.zeros::<T, 1>([5])?);
            let managed = any.to_dlpack::<DLManagedTensor>(&stream)?;
            // SAFETY: the structure was just made.
            let tensor = unsafe { managed.as_ref() }.dl_tensor;
            assert_eq!(tensor.dtype, DLDataType { code, bits, lanes }, "{}", T::DTYPE);
            // SAFETY: as above; it is used once.
            let back = unsafe { AnyTensor::from_dlpack(&stream, managed) }?;
            back.downcast::<T, 1>()?;
        }
        Ok(())
    }
    // `DLDataTypeCode` of dlpack.h.
    through::<bool>(6, 8, 1)?;
    through::<i8>(0, 8, 1)?;
    through::<i16>(0, 16, 1)?;
    through::<i32>(0, 32, 1)?;
    through::<i64>(0, 64, 1)?;
    through::<u8>(1, 8, 1)?;
    through::<u16>(1, 16, 1)?;
    through::<u32>(1, 32, 1)?;
    through::<u64>(1, 64, 1)?;
    through::<half::f16>(2, 16, 1)?;
    through::<f32>(2, 32, 1)?;
    through::<f64>(2, 64, 1)?;
    through::<bf16>(4, 16, 1)?;
    through::<e4m3>(10, 8, 1)?;
    through::<e5m2>(12, 8, 1)?;
    through::<ue8m0>(14, 8, 1)?;
    through::<e2m1x2>(17, 4, 2)
}

#[test]
fn a_tensor_goes_out_on_a_stream_of_its_device_alone() -> Result<()> {
    let (one, two) = (Device::emulator(Target::Sm80)?, Device::emulator(Target::Sm80)?);
    let elsewhere = two.stream()?;
    let _at_the_same_address = elsewhere.full([4], 8u8)?;
    for shape in [4, 0] {
        let any = AnyTensor::from(one.stream()?.full([shape], 7u8)?);
        let error = any.to_dlpack::<DLManagedTensor>(&elsewhere).expect_err("another device");
        let operation = "to_dlpack";
        assert!(
            matches!(&error, Error::StreamOfAnotherDevice { operation: of, .. } if *of == operation),
            "{error}"
        );
    }
    Ok(())
}

#[test]
fn memory_that_is_lent_for_reading_is_not_written() -> Result<()> {
    for device in devices::all()? {
        let stream = device.stream()?;
        let any = AnyTensor::from(stream.full([4], 7u8)?);
        let mut managed = any.to_dlpack::<DLManagedTensorVersioned>(&stream)?;
        // SAFETY: the structure was just made.
        unsafe { managed.as_mut() }.flags |= 1;
        // SAFETY: as above; it is used once.
        let mut back = unsafe { AnyTensor::from_dlpack(&stream, managed) }?;
        assert_eq!(back.as_tensor::<u8, 1>()?.to_vec(&stream)?, [7; 4]);
        // On the emulator it is a copy, which is as a GPU would have it.
        assert!(!back.is_writable());
        let error = back.as_tensor_mut::<u8, 1>().expect_err("it is lent for reading");
        assert!(matches!(error, Error::ReadOnly { .. }), "{error}");
        if !device.is_emulator() {
            // The older structure cannot say so.
            let out = back.to_dlpack::<DLManagedTensor>(&stream);
            assert!(matches!(out, Err(Error::ReadOnly { operation: "to_dlpack" })), "{out:?}");
        }
        assert!(matches!(back.downcast::<u8, 1>(), Err(Error::ReadOnly { .. })));
    }
    Ok(())
}
