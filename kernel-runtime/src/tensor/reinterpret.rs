//! Elements of one type as elements of another: bytes as `e4m3`, pairs of f16 as `u32`.

use super::{DeviceTensor, TensorView, TensorViewMut, exclusive, shared};
use crate::{Element, Error, Result};

impl<T: Element, const R: usize> DeviceTensor<T, R> {
    /// The same bits as elements of another type.
    ///
    /// Types of the same size keep the shape. Otherwise the innermost axis, which has to be contiguous, gets more or
    /// fewer elements in proportion: `[8, 64]` bytes are `[8, 16]` of `u32`.
    ///
    /// ```
    /// # #[cfg(feature = "emulator")]
    /// # fn main() -> kernel_runtime::Result<()> {
    /// use kernel_runtime::{Device, Target, e4m3};
    ///
    /// let stream = Device::emulator(Target::Sm90a)?.stream()?;
    /// let bytes = stream.upload(&[0x38u8, 0x40, 0xC4], [3])?;
    /// let numbers = bytes.reinterpret::<e4m3>()?;
    /// assert_eq!(numbers.to_vec(&stream)?.map_to_f32(), [1.0, 2.0, -3.0]);
    /// # Ok(())
    /// # }
    /// # trait Map { fn map_to_f32(self) -> Vec<f32>; }
    /// # impl Map for Vec<kernel_runtime::e4m3> {
    /// #     fn map_to_f32(self) -> Vec<f32> { self.into_iter().map(|x| x.to_f32()).collect() }
    /// # }
    /// # #[cfg(not(feature = "emulator"))]
    /// # fn main() {}
    /// ```
    ///
    /// # Errors
    /// [`Error::Reinterpret`] if the elements are not a whole number of the other type, or not aligned for it.
    pub fn reinterpret<U: Element>(&self) -> Result<TensorView<'_, U, R>> {
        self.reinterpreted().map(shared)
    }

    /// Like [`Self::reinterpret`], exclusive.
    ///
    /// # Errors
    /// As [`Self::reinterpret`].
    pub fn reinterpret_mut<U: Element>(&mut self) -> Result<TensorViewMut<'_, U, R>> {
        self.reinterpreted().map(exclusive)
    }

    fn reinterpreted<U: Element>(&self) -> Result<DeviceTensor<U, R>> {
        let refused = |why: &'static str| Error::Reinterpret {
            from: T::DTYPE,
            to: U::DTYPE,
            shape: self.shape.to_vec(),
            strides: self.strides.to_vec(),
            why,
        };
        if !self.address().is_multiple_of(U::BYTES as u64) {
            return Err(refused("the address is not aligned to the new elements"));
        }
        let (mut shape, mut strides) = (self.shape, self.strides);
        if T::BYTES != U::BYTES {
            let (Some((extent, outer)), Some((stride, outer_strides))) =
                (shape.split_last_mut(), strides.split_last_mut())
            else {
                return Err(refused("there is no axis along which elements are neighbours"));
            };
            if *stride != 1 && *extent > 1 {
                return Err(refused("elements of the innermost axis are not neighbours"));
            }
            let bytes = extent.checked_mul(T::BYTES).filter(|bytes| bytes.is_multiple_of(U::BYTES));
            let Some(bytes) = bytes else {
                return Err(refused("the innermost axis does not hold whole new elements"));
            };
            (*extent, *stride) = (bytes / U::BYTES, 1);
            for (stride, extent) in outer_strides.iter_mut().zip(&*outer) {
                let step =
                    stride.checked_mul(T::BYTES).filter(|step| step.is_multiple_of(U::BYTES));
                *stride = match step {
                    Some(step) => step / U::BYTES,
                    // A single element is never stepped from.
                    None if *extent <= 1 => 1,
                    None => return Err(refused("a stride is not a whole number of new elements")),
                };
            }
        }
        let buffer = std::sync::Arc::clone(&self.buffer);
        Ok(DeviceTensor::within(buffer, self.offset_bytes, shape, strides))
    }
}
