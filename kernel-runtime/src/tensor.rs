//! Typed tensors on a device.
//!
//! A tensor is an address, a shape and strides over shared device memory. New tensors are row-major without gaps. Views
//! of a tensor have other shapes and strides over the same memory. They borrow it as a slice borrows a `Vec`, and
//! dereference to a tensor, so that a kernel takes either.

mod reinterpret;
mod view;

use crate::{
    Device, DevicePtr, Element, Error, Result, Stream,
    argument::TensorValue,
    buffer::{Access, Buffer},
};
use std::{fmt, marker::PhantomData, sync::Arc};
pub use view::{TensorView, TensorViewMut};
pub(crate) use view::{exclusive, shared};

/// `R`-dimensional elements of type `T` in the memory of a device.
///
/// Shapes and strides are in elements. The memory is freed when the last work that uses it is done.
pub struct DeviceTensor<T, const R: usize> {
    buffer: Arc<Buffer>,
    /// The offset of element 0 from the start of the buffer, in bytes.
    offset_bytes: usize,
    shape: [usize; R],
    strides: [usize; R],
    /// [`Element::DTYPE`]; kept as a value so that code generic over `T` needs no bound to launch.
    dtype: &'static str,
    element_bytes: usize,
    element: PhantomData<fn() -> T>,
}

impl<T: Element, const R: usize> DeviceTensor<T, R> {
    /// A row-major tensor over the whole of a buffer of the right size.
    pub(crate) fn new(buffer: Buffer, shape: [usize; R]) -> Self {
        Self::over(buffer, shape, row_major(shape))
    }

    /// A tensor from the start of a buffer that is large enough.
    pub(crate) fn over(buffer: Buffer, shape: [usize; R], strides: [usize; R]) -> Self {
        Self::within(Arc::new(buffer), 0, shape, strides)
    }

    /// A tensor from some byte of a buffer that is large enough.
    pub(crate) fn within(
        buffer: Arc<Buffer>,
        offset_bytes: usize,
        shape: [usize; R],
        strides: [usize; R],
    ) -> Self {
        Self {
            buffer,
            offset_bytes,
            shape,
            strides,
            dtype: T::DTYPE,
            element_bytes: T::BYTES,
            element: PhantomData,
        }
    }

    /// A view of the tensor that an argument is, if it has these types.
    pub(crate) fn of_argument<'x>(value: &'x TensorValue<'_>) -> Option<TensorView<'x, T, R>> {
        let shape = value.shape.exact::<R>().filter(|_| value.dtype == T::DTYPE)?;
        let strides = value.strides.exact::<R>()?;
        let offset = value.address.checked_sub(value.buffer.address())?;
        let offset = usize::try_from(offset).ok()?;
        Some(shared(Self::within(Arc::clone(&value.buffer), offset, shape, strides)))
    }

    /// The elements in row-major order, after all work that writes them. Waits for the stream.
    ///
    /// # Errors
    /// [`Error::StreamOfAnotherDevice`]; [`Error::Driver`] when a kernel or a copy failed.
    pub fn to_vec(&self, stream: &Stream) -> Result<Vec<T>> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        stream.outside_of_captures("to_vec")?;
        self.on("to_vec", stream, Access::Read, |address| {
            if self.is_contiguous() {
                return stream.queue().download(address, self.len());
            }
            stream.queue().gather(address, self.span(), offsets(&self.shape, &self.strides))
        })
    }
}

impl<T, const R: usize> DeviceTensor<T, R> {
    /// The extents of the axes.
    pub fn shape(&self) -> [usize; R] {
        self.shape
    }

    /// The strides: distances between neighbours along the axes, in elements.
    pub fn strides(&self) -> [usize; R] {
        self.strides
    }

    /// The extent of an axis in the kernels' index type. For an extent over `i32::MAX` it returns `i32::MAX`; a launch
    /// refuses such a tensor.
    ///
    /// # Panics
    /// When the tensor has no such axis: `axis` must be below its rank, `R`.
    #[track_caller]
    pub fn dim(&self, axis: usize) -> i32 {
        let Some(&extent) = self.shape.get(axis) else {
            panic!("dim: axis {axis} does not fit the shape {:?}", self.shape)
        };
        i32::try_from(extent).unwrap_or(i32::MAX)
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        if self.is_empty() { 0 } else { self.shape.iter().product() }
    }

    /// Whether the tensor has no elements.
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// Whether the elements are in row-major order without gaps.
    pub fn is_contiguous(&self) -> bool {
        let expected = row_major(self.shape);
        self.is_empty()
            || (0..R).all(|axis| self.shape[axis] == 1 || self.strides[axis] == expected[axis])
    }

    /// The element type's name in kernels, such as `f16`.
    pub fn dtype(&self) -> &'static str {
        self.dtype
    }

    /// The device whose memory this is.
    pub fn device(&self) -> &Device {
        self.buffer.home().device()
    }

    /// The address of element 0, for kernels that take `Ptr` arguments. The pointer does not keep the
    /// memory alive.
    pub fn device_ptr(&self) -> DevicePtr<T> {
        DevicePtr::new(self.address(), self.dtype, self.device().id())
    }

    /// The address of element 0 on the device, in bytes; 0 for a new tensor without elements. It is valid as long as
    /// the tensor lives.
    pub fn address(&self) -> u64 {
        self.buffer.address() + self.offset_bytes as u64
    }

    pub(crate) fn element_bytes(&self) -> usize {
        self.element_bytes
    }

    /// The buffer, and the offset of element 0 in it, in bytes.
    pub(crate) fn into_parts(self) -> (Arc<Buffer>, usize) {
        (self.buffer, self.offset_bytes)
    }

    pub(crate) fn buffer(&self) -> &Arc<Buffer> {
        &self.buffer
    }

    /// Elements from the first to the last one in memory, gaps included.
    fn span(&self) -> usize {
        span_of(&self.shape, &self.strides)
    }

    /// Runs a use by `operation` in order on the stream, given the address of element 0.
    fn on<U>(
        &self,
        operation: &'static str,
        stream: &Stream,
        access: Access,
        enqueue: impl FnOnce(u64) -> Result<U>,
    ) -> Result<U> {
        if self.device() != stream.device() {
            return Err(Error::StreamOfAnotherDevice {
                operation,
                required: stream.device().label(),
                actual: self.device().label_beside(stream.device()),
            });
        }
        stream.begin_use(&self.buffer, access)?;
        let result = enqueue(self.address())?;
        stream.end_use(&self.buffer)?;
        Ok(result)
    }

    /// As [`Self::on`], for operations on row-major memory.
    pub(crate) fn contiguous_on<U>(
        &self,
        operation: &'static str,
        stream: &Stream,
        access: Access,
        enqueue: impl FnOnce(u64) -> Result<U>,
    ) -> Result<U> {
        self.require_contiguous(operation)?;
        self.on(operation, stream, access, enqueue)
    }

    /// Passes the memory to somebody who frees it on `stream`: its address and the number of elements. The tensor is
    /// empty afterwards; after an error it is unchanged.
    #[cfg(feature = "cuda")]
    pub(crate) fn give_up(
        &mut self,
        operation: &'static str,
        stream: &Stream,
    ) -> Result<(u64, usize)> {
        self.require_contiguous(operation)?;
        if self.device() != stream.device() {
            return Err(Error::StreamOfAnotherDevice {
                operation,
                required: stream.device().label(),
                actual: self.device().label_beside(stream.device()),
            });
        }
        let (count, is_whole) = (self.len(), self.offset_bytes == 0);
        let buffer = Arc::get_mut(&mut self.buffer).filter(|_| is_whole);
        let address = buffer.and_then(|buffer| buffer.give_up(stream));
        let address = address.ok_or(Error::NotOwned { operation })??;
        self.shape = [0; R];
        Ok((address, count))
    }

    pub(crate) fn require_contiguous(&self, operation: &'static str) -> Result<()> {
        if self.is_contiguous() {
            return Ok(());
        }
        Err(Error::NotContiguous {
            operation,
            shape: self.shape.to_vec(),
            strides: self.strides.to_vec(),
        })
    }
}

/// [`DeviceTensor::device_ptr`], which rustc offers where a kernel takes a `Ptr`.
impl<T, const R: usize> From<&DeviceTensor<T, R>> for DevicePtr<T> {
    fn from(tensor: &DeviceTensor<T, R>) -> Self {
        tensor.device_ptr()
    }
}

impl<T, const R: usize> fmt::Debug for DeviceTensor<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shape, strides, dtype, .. } = self;
        write!(f, "DeviceTensor<{dtype}, {R}> {shape:?}, strides {strides:?}, ")?;
        f.write_str(&self.device().label())
    }
}

/// The strides of a row-major tensor; extents are saturated, as a tensor that large cannot exist.
pub(crate) fn row_major<const R: usize>(shape: [usize; R]) -> [usize; R] {
    let mut strides = [1; R];
    write_row_major(&shape, &mut strides);
    strides
}

/// As [`row_major`], of a rank that is known at run time.
pub(crate) fn row_major_of(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    write_row_major(shape, &mut strides);
    strides
}

fn write_row_major(shape: &[usize], strides: &mut [usize]) {
    let mut step = 1usize;
    for (stride, extent) in strides.iter_mut().zip(shape).rev() {
        *stride = step;
        step = step.saturating_mul(*extent);
    }
}

/// The offsets of all elements from element 0, in row-major order of the indices.
pub(crate) fn offsets(shape: &[usize], strides: &[usize]) -> impl Iterator<Item = usize> {
    let mut index = vec![0; shape.len()];
    (0..shape.iter().product()).map(move |_: usize| {
        let offset = index.iter().zip(strides).map(|(i, stride)| i * stride).sum();
        for (index, extent) in index.iter_mut().zip(shape).rev() {
            *index += 1;
            if *index < *extent {
                break;
            }
            *index = 0;
        }
        offset
    })
}

/// Elements from the first to the last one in memory; at least one element is there.
fn span_of(shape: &[usize], strides: &[usize]) -> usize {
    let last: usize = shape.iter().zip(strides).map(|(extent, stride)| (extent - 1) * stride).sum();
    last + 1
}

/// The elements of a shape, where a `usize` can count them.
fn count(shape: &[usize]) -> Option<usize> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(1usize, |count, extent| count.checked_mul(*extent))
}

/// The bytes of so many elements, if memory can have them.
fn bytes_within(shape: &[usize], element_bytes: usize) -> Option<usize> {
    let bytes = count(shape)?.checked_mul(element_bytes)?;
    isize::try_from(bytes).is_ok().then_some(bytes)
}

/// The bytes of a row-major tensor.
pub(crate) fn bytes_of<T: Element>(shape: &[usize]) -> Result<usize> {
    bytes_within(shape, T::BYTES)
        .ok_or_else(|| Error::TooLarge { shape: shape.to_vec(), dtype: T::DTYPE })
}

/// The bytes from element 0 to the end of the last one, gaps included; 0 without elements.
pub(crate) fn span_bytes(
    (dtype, element_bytes): (&'static str, usize),
    shape: &[usize],
    strides: &[usize],
) -> Result<usize> {
    if shape.contains(&0) {
        return Ok(0);
    }
    let last = shape.iter().zip(strides).try_fold(0usize, |last, (extent, stride)| {
        last.checked_add((extent - 1).checked_mul(*stride)?)
    });
    // Where strides are 0, there are more elements than memory; a copy of them has to have a size, too.
    let bytes_of = |elements: usize| {
        elements.checked_mul(element_bytes).filter(|bytes| isize::try_from(*bytes).is_ok())
    };
    last.and_then(|last| last.checked_add(1))
        .and_then(bytes_of)
        .filter(|_| bytes_within(shape, element_bytes).is_some())
        .ok_or_else(|| Error::TooLarge { shape: shape.to_vec(), dtype })
}

/// Checks that a host slice has as many elements as a shape.
pub(crate) fn check_length(operation: &'static str, shape: &[usize], actual: usize) -> Result<()> {
    let required = count(shape).unwrap_or(usize::MAX);
    if required == actual {
        return Ok(());
    }
    Err(Error::Length { operation, shape: shape.to_vec(), required, actual })
}
