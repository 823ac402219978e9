//! Tensors, views and their elements.

use crate::devices;
use half::{bf16, f16};
use kernel_runtime::{__tensor_within, Device, Element, Error, ParamKind, Result, Stream, Target};

fn stream() -> Result<Stream> {
    Device::emulator(Target::Sm80)?.stream()
}

fn round_trip<T: Element>(values: &[T], dtype: &str) -> Result<()> {
    for device in devices::all()? {
        let stream = device.stream()?;
        let mut tensor = stream.upload(values, [values.len()])?;
        assert_eq!(tensor.dtype(), dtype);
        assert_eq!(tensor.to_vec(&stream)?, values);
        stream.fill(&mut tensor, values[1])?;
        assert_eq!(tensor.to_vec(&stream)?, vec![values[1]; values.len()]);
        let zeros = stream.zeros::<T, 1>([5])?;
        assert_eq!(zeros.to_vec(&stream)?, [T::default(); 5]);
    }
    Ok(())
}

#[test]
fn every_element_type_survives_the_device() -> Result<()> {
    round_trip(&[true, false, true], "bool")?;
    round_trip(&[i8::MIN, -1, 7], "i8")?;
    round_trip(&[i16::MIN, -2, 7], "i16")?;
    round_trip(&[i32::MIN, -3, 7], "i32")?;
    round_trip(&[i64::MIN, -4, 7], "i64")?;
    round_trip(&[u8::MAX, 1, 7], "u8")?;
    round_trip(&[u16::MAX, 2, 7], "u16")?;
    round_trip(&[u32::MAX, 3, 7], "u32")?;
    round_trip(&[u64::MAX, 4, 7], "u64")?;
    round_trip(&[f16::MAX, f16::from_f32(-1.5), f16::EPSILON], "f16")?;
    round_trip(&[bf16::MAX, bf16::from_f32(-1.5), bf16::EPSILON], "bf16")?;
    round_trip(&[f32::MAX, -1.5, f32::EPSILON], "f32")?;
    round_trip(&[f64::MAX, -1.5, f64::EPSILON], "f64")
}

#[test]
fn an_axis_that_a_tensor_does_not_have_is_named() -> Result<()> {
    let tensor = Device::emulator(Target::Sm80)?.stream()?.full([2, 3], 1u8)?;
    let panic = std::panic::catch_unwind(|| tensor.dim(7)).expect_err("there are two axes");
    let text = panic.downcast_ref::<String>().expect("it says why");
    assert_eq!(text, "dim: axis 7 does not fit the shape [2, 3]");
    Ok(())
}

#[test]
fn new_tensors_are_row_major() -> Result<()> {
    for device in devices::all()? {
        let stream = device.stream()?;
        let tensor = stream.full([2, 3, 4], 1u8)?;
        assert_eq!(tensor.shape(), [2, 3, 4]);
        assert_eq!(tensor.strides(), [12, 4, 1]);
        assert_eq!((tensor.dim(0), tensor.dim(1), tensor.dim(2)), (2, 3, 4));
        assert_eq!((tensor.len(), tensor.is_empty(), tensor.is_contiguous()), (24, false, true));
        assert_eq!(tensor.device(), stream.device());
        let scalar = stream.full([], 3.5f64)?;
        assert_eq!((scalar.len(), scalar.to_vec(&stream)?), (1, vec![3.5]));
        let empty = stream.upload::<i32, 2>(&[], [0, 4])?;
        assert_eq!((empty.len(), empty.is_empty(), empty.to_vec(&stream)?), (0, true, vec![]));
    }
    Ok(())
}

#[test]
fn views_read_what_they_show() -> Result<()> {
    for device in devices::all()? {
        let stream = device.stream()?;
        let host: Vec<i32> = (0..24).collect();
        let tensor = stream.upload(&host, [2, 3, 4])?;

        let middle = tensor.slice(1, 1..3)?;
        assert_eq!((middle.shape(), middle.strides()), ([2, 2, 4], [12, 4, 1]));
        assert!(!middle.is_contiguous());
        let required = [4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 20, 21, 22, 23];
        assert_eq!(middle.to_vec(&stream)?, required);

        let corner = tensor.slice(0, 1..2)?.slice(2, 3..4)?;
        assert_eq!(corner.to_vec(&stream)?, [15, 19, 23]);

        let flipped = tensor.transpose();
        assert_eq!((flipped.shape(), flipped.strides()), ([4, 3, 2], [1, 4, 12]));
        let required: Vec<i32> = (0..4)
            .flat_map(|k| (0..3).flat_map(move |j| (0..2).map(move |i| 12 * i + 4 * j + k)))
            .collect();
        assert_eq!(flipped.to_vec(&stream)?, required);
        assert_eq!(flipped.transpose().to_vec(&stream)?, host);

        let permuted = tensor.permute([2, 0, 1])?;
        assert_eq!((permuted.shape(), permuted.strides()), ([4, 2, 3], [1, 12, 4]));

        let flat = tensor.view().reshape([6, 4])?;
        assert_eq!((flat.shape(), flat.to_vec(&stream)?), ([6, 4], host.clone()));

        let repeated = tensor.as_strided([2, 3], [0, 1])?;
        assert_eq!(repeated.to_vec(&stream)?, [0, 1, 2, 0, 1, 2]);

        let many = tensor.as_strided([1 << 33, 1 << 31], [0, 0]);
        assert!(matches!(many, Err(Error::TooLarge { .. })), "{many:?}");

        let nothing = tensor.slice(2, 4..4)?;
        assert_eq!((nothing.len(), nothing.to_vec(&stream)?), (0, vec![]));
    }
    Ok(())
}

#[test]
fn a_tensor_takes_other_strides_and_back() -> Result<()> {
    for device in devices::all()? {
        let stream = device.stream()?;
        let host: Vec<i32> = (0..24).collect();
        // Columns 1 and 2 of a matrix of four rows of six, each row's neighbour first.
        let columns = stream.upload(&host, [24])?.into_strided(1, [2, 4], [1, 6])?;
        assert_eq!((columns.shape(), columns.strides()), ([2, 4], [1, 6]));
        assert_eq!(columns.to_vec(&stream)?, [1, 7, 13, 19, 2, 8, 14, 20]);

        let mut span = columns.into_strided(0, [20], [1])?;
        assert_eq!(span.to_vec(&stream)?, host[1..21]);
        stream.fill(&mut span, 5)?;
        let view = span.into_view();
        assert_eq!(view.slice(0, 18..20)?.to_vec(&stream)?, [5, 5]);

        let empty = stream.upload(&host, [24])?.into_strided(30, [0, 7], [7, 1])?;
        assert_eq!(empty.to_vec(&stream)?, [0; 0]);
        let past = stream.upload(&host, [24])?.into_strided(5, [4, 2], [6, 1]);
        let Err(Error::View { actual, .. }) = past else { panic!("element 24 is not there") };
        assert_eq!(actual, "a view of shape [4, 2] and strides [6, 1] from element 5");
    }
    Ok(())
}

#[test]
fn exclusive_views_write_where_they_point() -> Result<()> {
    for device in devices::all()? {
        let stream = device.stream()?;
        let mut tensor = stream.zeros::<u16, 2>([3, 4])?;
        stream.fill(&mut *tensor.slice_mut(0, 1..2)?, 7)?;
        stream.write(
            &mut *tensor.view_mut().into_slice(0, 2..3)?.into_reshape([2, 2])?,
            &[1, 2, 3, 4],
        )?;
        assert_eq!(tensor.to_vec(&stream)?, [0, 0, 0, 0, 7, 7, 7, 7, 1, 2, 3, 4]);
        let copy = {
            let mut copy = stream.empty([2, 4])?;
            let source = tensor.slice(0, 1..3)?;
            stream.copy(&source, &mut copy)?;
            copy
        };
        stream.fill(&mut tensor, 9)?;
        assert_eq!(copy.to_vec(&stream)?, [7, 7, 7, 7, 1, 2, 3, 4]);
    }
    Ok(())
}

#[test]
fn operations_refuse_what_does_not_fit() -> Result<()> {
    let stream = stream()?;
    let mut tensor = stream.zeros::<f32, 2>([3, 4])?;
    let other = stream.zeros::<f32, 2>([4, 3])?;

    let length = stream.upload(&[1.0f32; 5], [2, 3]).expect_err("5 is not 6");
    assert_eq!(length.to_string(), "upload: the shape [2, 3] has 6 elements, the slice 5");
    let length = stream.write(&mut tensor, &[1.0; 11]).expect_err("11 is not 12");
    assert!(matches!(length, Error::Length { required: 12, actual: 11, .. }), "{length:?}");
    let shape = stream.copy(&other, &mut tensor).expect_err("the shapes differ");
    assert_eq!(shape.to_string(), "copy: the shapes [3, 4] and [4, 3] differ");
    let shape = tensor.reshape([5, 2]).expect_err("10 is not 12");
    assert!(matches!(shape, Error::Shape { operation: "reshape", .. }), "{shape:?}");
    let gaps = tensor.transpose().reshape([12]).expect_err("the columns are not adjacent");
    assert!(matches!(gaps, Error::NotContiguous { operation: "reshape", .. }), "{gaps:?}");
    let gaps = stream.fill(&mut *tensor.slice_mut(1, 0..2)?, 1.0).expect_err("there are gaps");
    assert!(matches!(gaps, Error::NotContiguous { operation: "fill", .. }), "{gaps:?}");
    let large = stream.empty::<f64, 2>([usize::MAX, 2]).expect_err("more bytes than addresses");
    assert!(matches!(large, Error::TooLarge { dtype: "f64", .. }), "{large:?}");

    let misfits = [
        tensor.slice(2, 0..1).expect_err("there is no axis 2"),
        tensor.slice(0, 2..4).expect_err("there are 3 rows"),
        tensor.slice(0, std::ops::Range { start: 2, end: 1 }).expect_err("backwards"),
        tensor.permute([0, 0]).expect_err("axis 1 is missing"),
        tensor.as_strided([3, 5], [4, 1]).expect_err("the last row has 4 elements"),
        tensor.as_strided([2], [usize::MAX]).expect_err("far away"),
    ];
    for misfit in misfits {
        assert!(matches!(misfit, Error::View { .. }), "{misfit:?}");
    }
    Ok(())
}

#[test]
fn a_tensor_without_elements_can_have_any_other_extent() -> Result<()> {
    let stream = stream()?;
    let large = usize::MAX;
    let tensor = stream.zeros::<f32, 4>([7, large, 2, 0])?;
    assert_eq!((tensor.len(), tensor.is_contiguous()), (0, true));
    assert_eq!(tensor.slice(0, 3..5)?.slice(1, 9..large)?.to_vec(&stream)?, []);
    assert_eq!(tensor.reshape([0, large, large])?.shape(), [0, large, large]);
    assert_eq!(tensor.transpose().to_vec(&stream)?, []);
    Ok(())
}

#[test]
fn memory_that_was_never_written_cannot_be_read() -> Result<()> {
    let stream = stream()?;
    let tensor = stream.empty::<u32, 1>([4])?;
    let error = tensor.to_vec(&stream).expect_err("nothing was written");
    assert!(matches!(error, Error::EmulatorMemory { operation: "to_vec", .. }), "{error:?}");
    Ok(())
}

#[test]
fn too_much_memory_is_an_error() -> Result<()> {
    let error = stream()?.empty::<u8, 1>([1 << 60]).expect_err("an exbibyte");
    assert!(
        matches!(error, Error::OutOfMemory { required, .. } if required == 1 << 60),
        "{error:?}"
    );
    Ok(())
}

#[test]
fn a_stream_refuses_tensors_of_another_device() -> Result<()> {
    let (here, there) = (stream()?, stream()?);
    let mut tensor = here.zeros::<u8, 1>([4])?;
    let mut other = here.zeros::<u8, 1>([4])?;
    let refused = [
        ("to_vec", tensor.to_vec(&there).expect_err("elsewhere")),
        ("copy", there.copy(&tensor, &mut other).expect_err("elsewhere")),
        ("write", there.write(&mut tensor, &[0; 4]).expect_err("elsewhere")),
        ("fill", there.fill(&mut tensor, 0).expect_err("elsewhere")),
    ];
    for (name, error) in refused {
        let Error::StreamOfAnotherDevice { operation, .. } = error else { panic!("{error:?}") };
        assert_eq!(operation, name);
    }
    Ok(())
}

#[test]
fn a_tensor_within_bytes_stays_within_them() -> Result<()> {
    let bytes = stream()?.zeros::<u8, 1>([64])?;
    let kind = ParamKind::Tensor { dtype: "f16", rank: 2, mutable: true };
    let within = |offset_bytes, kind, shape: &[usize], strides: &[usize]| {
        __tensor_within(&bytes, offset_bytes, kind, 2, shape, strides).map(|_| ())
    };
    // From element 0 to behind the last one: (3 * 8 + 3 + 1) * 2 = 56 bytes.
    within(8, kind, &[4, 4], &[8, 1])?;
    for outside in [
        within(10, kind, &[4, 4], &[8, 1]),
        within(8, kind, &[4, 4], &[9, 1]),
        within(8, kind, &[5, 4], &[8, 1]),
        within(8, kind, &[2, 2], &[usize::MAX, 1]),
        within(8, kind, &[4], &[8]),
        within(8, ParamKind::Scalar { dtype: "f16" }, &[4, 4], &[8, 1]),
    ] {
        assert!(matches!(outside, Err(Error::View { .. })), "{outside:?}");
    }
    let error = within(10, kind, &[4, 4], &[8, 1]).expect_err("it ends two bytes too late");
    assert!(error.to_string().contains("10 bytes behind the first"), "{error}");
    Ok(())
}
