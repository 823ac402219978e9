//! Tensors whose types are known at run time, and bits under another type.

use crate::devices;
use half::{bf16, f16};
use kernel_runtime::{AnyTensor, Device, Error, Result, Target, e2m1x2, e4m3};

#[test]
fn a_tensor_without_its_type_gets_it_back() -> Result<()> {
    for device in devices::all()? {
        let stream = device.stream()?;
        let tensor = stream.upload(&[1i32, 2, 3, 4, 5, 6], [2, 3])?;
        let mut any = AnyTensor::from(tensor);
        assert_eq!((any.shape(), any.strides(), any.rank()), (&[2, 3][..], &[3, 1][..], 2));
        assert_eq!((any.dtype(), any.is_writable()), ("i32", true));
        assert_eq!(any.as_tensor::<i32, 2>()?.transpose().to_vec(&stream)?, [1, 4, 2, 5, 3, 6]);
        stream.fill(&mut *any.as_tensor_mut::<i32, 2>()?, 9)?;
        assert_eq!(any.downcast::<i32, 2>()?.to_vec(&stream)?, [9; 6]);
    }
    Ok(())
}

#[test]
fn another_type_or_rank_is_refused() -> Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let any = AnyTensor::from(stream.zeros::<f16, 2>([2, 3])?);
    let error = any.as_tensor::<bf16, 2>().expect_err("another type");
    assert_eq!(error.to_string(), "the tensor is a Tensor<f16, 2>, not a Tensor<bf16, 2>");
    let error = any.downcast::<f16, 1>().expect_err("another rank");
    assert_eq!(error.to_string(), "the tensor is a Tensor<f16, 2>, not a Tensor<f16, 1>");
    assert!(matches!(error, Error::NotOfType { .. }));
    Ok(())
}

#[test]
fn bits_are_seen_as_another_type() -> Result<()> {
    for device in devices::all()? {
        let stream = device.stream()?;
        let mut bytes =
            stream.upload(&[0x38u8, 0x40, 0xC4, 0x00, 0x01, 0x02, 0x03, 0x04], [2, 4])?;
        // FP8: 1, 2 and -3 (exponent bias 7, three bits of mantissa).
        let numbers = bytes.slice(0, 0..1)?;
        let values = numbers.reinterpret::<e4m3>()?.to_vec(&stream)?;
        assert_eq!(values.map_f32(), [1.0, 2.0, -3.0, 0.0]);
        let words = bytes.reinterpret::<u32>()?;
        assert_eq!((words.shape(), words.strides()), ([2, 1], [1, 1]));
        assert_eq!(words.to_vec(&stream)?, [0x00C4_4038, 0x0403_0201]);
        let pairs = bytes.reinterpret::<u16>()?.slice(1, 1..2)?.to_vec(&stream)?;
        assert_eq!(pairs, [0x00C4, 0x0403]);
        stream.fill(&mut *bytes.reinterpret_mut::<u32>()?, 0x0807_0605)?;
        assert_eq!(bytes.to_vec(&stream)?, [5, 6, 7, 8, 5, 6, 7, 8]);
        let packed = bytes.reinterpret::<e2m1x2>()?;
        assert_eq!(packed.shape(), [2, 4]);
        // Wider elements as narrower ones, apart from their rows.
        let wide = stream.upload(&[1u64, 2, 3, 4, 5, 6], [2, 3])?;
        let rows = wide.slice(1, 0..2)?;
        let halves = rows.reinterpret::<u32>()?;
        assert_eq!((halves.shape(), halves.strides()), ([2, 4], [6, 1]));
        assert_eq!(halves.to_vec(&stream)?, [1, 0, 2, 0, 4, 0, 5, 0]);
        // Elements that are not neighbours keep their places where the sizes agree.
        let columns = wide.transpose();
        assert_eq!(columns.reinterpret::<i64>()?.to_vec(&stream)?, [1, 4, 2, 5, 3, 6]);
    }
    Ok(())
}

trait MapF32 {
    fn map_f32(self) -> Vec<f32>;
}

impl MapF32 for Vec<e4m3> {
    fn map_f32(self) -> Vec<f32> {
        self.into_iter().map(e4m3::to_f32).collect()
    }
}

#[test]
fn elements_that_do_not_come_out_even_are_refused() -> Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let bytes = stream.zeros::<u8, 2>([4, 6])?;
    let why = |error: Error| {
        let Error::Reinterpret { why, .. } = error else { panic!("{error}") };
        why
    };
    let error = bytes.reinterpret::<u32>().expect_err("six bytes a row");
    assert_eq!(
        error.to_string(),
        "a tensor of u8 with shape [4, 6] and strides [6, 1] cannot be seen as u32: the innermost axis does not hold whole \
         new elements"
    );
    let rows = bytes.slice(1, 0..4)?;
    let error = rows.reinterpret::<u32>().expect_err("rows begin 6 bytes apart");
    assert_eq!(why(error), "a stride is not a whole number of new elements");
    let odd = bytes.slice(1, 1..3)?;
    let error = odd.reinterpret::<u16>().expect_err("an odd address");
    assert_eq!(why(error), "the address is not aligned to the new elements");
    let columns = bytes.transpose();
    let error = columns.reinterpret::<u16>().expect_err("neighbours lie in the other axis");
    assert_eq!(why(error), "elements of the innermost axis are not neighbours");
    let scalar = stream.zeros::<u8, 0>([])?;
    let error = scalar.reinterpret::<u16>().expect_err("no axis");
    assert_eq!(why(error), "there is no axis along which elements are neighbours");
    Ok(())
}
