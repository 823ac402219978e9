//! Kiln with [cudarc](::cudarc): contexts, streams and slices of cudarc, used in place.
//!
//! ```no_run
//! use cudarc::driver::CudaContext;
//! use kernel_runtime::{Device, Stream, cudarc as interop};
//!
//! let context = CudaContext::new(0)?;
//! let theirs = context.default_stream();
//! let data = theirs.clone_htod(&[1.0f32, 2.0, 3.0, 4.0])?;
//!
//! let device = Device::from_cudarc(&context)?;
//! let stream = Stream::from_cudarc(&theirs)?; // one stream under two names
//! let tensor = interop::view(&data, [2, 2])?; // a kernel takes `&tensor`
//! assert_eq!(tensor.to_vec(&stream)?, [1.0, 2.0, 3.0, 4.0]);
//! # let _ = device;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::{describe, queue::PER_THREAD};
use crate::{
    Device, DeviceTensor, Element, Error, Result, Stream, TensorArgumentMut, TensorRefMut,
    buffer::{Buffer, Lease},
    foreign::Recorded,
    tensor,
};
use cudarc::driver::{
    CudaContext, CudaSlice, CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut, SyncOnDrop,
};
use std::{fmt, ops::Deref, panic::AssertUnwindSafe, sync::Arc};

impl Device {
    /// The GPU of a context of cudarc: the same as [`Device::cuda`] of its number.
    ///
    /// # Errors
    /// [`Error::ForeignContext`] for a context that is not the GPU's primary one; those of [`Device::cuda`].
    pub fn from_cudarc(context: &Arc<CudaContext>) -> Result<Self> {
        let device = Self::cuda(context.ordinal())?;
        match device.gpu() {
            Some(gpu) if gpu.has_context(context.cu_ctx().cast())? => Ok(device),
            Some(_) | None => Err(Error::ForeignContext { device: device.label() }),
        }
    }
}

impl Stream {
    /// A stream of cudarc, which may be the default stream. Work of both libraries on it is ordered.
    ///
    /// Kiln's work cannot be recorded into cudarc's graphs, which do not know Kiln's memory: use [`Device::capture`].
    /// It is refused if cudarc has begun to record the stream before the call; memory of tensors of the stream that are
    /// dropped meanwhile is not freed. Use a stream from `CudaContext::per_thread_stream` only in the thread that makes
    /// it.
    ///
    /// # Errors
    /// As [`Device::from_cudarc`]; [`Error::Driver`]; later, [`Error::NotInGraph`] for work while cudarc records the stream.
    pub fn from_cudarc(stream: &Arc<CudaStream>) -> Result<Self> {
        let device = Device::from_cudarc(stream.context())?;
        let owner = AssertUnwindSafe(Box::new(Arc::clone(stream)) as Box<_>);
        device.foreign_stream(stream.cu_stream().cast(), owner, Recorded::Never)
    }
}

/// A slice of cudarc as a tensor, which it dereferences to. [`view`] and [`view_strided`] make it.
pub struct View<'a, T, const R: usize> {
    // Dropped first: cudarc then records what was put on its stream, Kiln's work included.
    tensor: DeviceTensor<T, R>,
    _recorded: SyncOnDrop<'a>,
}

/// A slice of cudarc as a tensor that kernels may write. [`view_mut`] and [`view_strided_mut`] make it.
pub struct ViewMut<'a, T, const R: usize> {
    tensor: DeviceTensor<T, R>,
    _recorded: SyncOnDrop<'a>,
    // Dropped last: what is recorded refers to it.
    _stream: Arc<CudaStream>,
}

/// Memory of cudarc: `CudaSlice`, `CudaView` and `CudaViewMut`, and no other types, since nobody guarantees their
/// addresses.
pub trait Slice<T>: DevicePtr<T> + Sealed {}

/// Memory of cudarc that may be written: `CudaSlice` and `CudaViewMut`.
pub trait SliceMut<T>: DevicePtrMut<T> + Slice<T> {}

mod sealed {
    /// Has no implementations elsewhere.
    pub trait Sealed {}
}
use sealed::Sealed;

impl<T> Sealed for CudaSlice<T> {}
impl<T> Sealed for CudaView<'_, T> {}
impl<T> Sealed for CudaViewMut<'_, T> {}
impl<T> Slice<T> for CudaSlice<T> {}
impl<T> Slice<T> for CudaView<'_, T> {}
impl<T> Slice<T> for CudaViewMut<'_, T> {}
impl<T> SliceMut<T> for CudaSlice<T> {}
impl<T> SliceMut<T> for CudaViewMut<'_, T> {}

/// A `CudaSlice` or `CudaView` as a row-major tensor.
///
/// Kiln's work on it, on any stream, is in order with cudarc's work on the slice's stream.
///
/// # Errors
/// [`Error::Length`] when the slice has fewer elements than the shape; [`Error::PerThreadStream`] for a slice of that stream;
/// [`Error::ForeignContext`], [`Error::Driver`].
pub fn view<T: Element, S: Slice<T>, const R: usize>(
    slice: &S,
    shape: [usize; R],
) -> Result<View<'_, T, R>> {
    view_strided(slice, shape, tensor::row_major(shape))
}

/// Like [`view`], with strides in elements.
///
/// # Errors
/// As [`view`].
pub fn view_strided<T: Element, S: Slice<T>, const R: usize>(
    slice: &S,
    shape: [usize; R],
    strides: [usize; R],
) -> Result<View<'_, T, R>> {
    let (stream, bytes) = fitting::<T, S>(slice, &shape, &strides)?;
    let (address, recorded) = slice.device_ptr(slice.stream());
    let buffer = Buffer::foreign(&stream, address, bytes, Lease::Borrowed);
    Ok(View { tensor: DeviceTensor::over(buffer, shape, strides), _recorded: recorded })
}

/// Like [`view`], exclusive: kernels may write it.
///
/// # Errors
/// As [`view`].
pub fn view_mut<T: Element, S: SliceMut<T>, const R: usize>(
    slice: &mut S,
    shape: [usize; R],
) -> Result<ViewMut<'_, T, R>> {
    view_strided_mut(slice, shape, tensor::row_major(shape))
}

/// Like [`view_mut`], with strides in elements.
///
/// # Errors
/// As [`view`].
pub fn view_strided_mut<T: Element, S: SliceMut<T>, const R: usize>(
    slice: &mut S,
    shape: [usize; R],
    strides: [usize; R],
) -> Result<ViewMut<'_, T, R>> {
    let (stream, bytes) = fitting::<T, S>(slice, &shape, &strides)?;
    let theirs = Arc::clone(slice.stream());
    // SAFETY: the stream lives as long as the `Arc`, which `ViewMut` holds until the reference is gone; the slice's own reference
    // to it cannot be used while the slice is borrowed exclusively.
    let for_view: &CudaStream = unsafe { &*Arc::as_ptr(&theirs) };
    let (address, recorded) = slice.device_ptr_mut(for_view);
    let buffer = Buffer::foreign(&stream, address, bytes, Lease::Borrowed);
    let tensor = DeviceTensor::over(buffer, shape, strides);
    Ok(ViewMut { tensor, _recorded: recorded, _stream: theirs })
}

/// Refuses the per-thread default stream: cudarc would free a slice in the order of the stream of the thread that drops
/// it.
fn require_one_stream(stream: &CudaStream) -> Result<()> {
    let is_one = stream.cu_stream().addr() != PER_THREAD;
    if is_one { Ok(()) } else { Err(Error::PerThreadStream) }
}

/// Kiln's name for the slice's stream, and the bytes that the tensor covers.
fn fitting<T: Element, S: Slice<T>>(
    slice: &S,
    shape: &[usize],
    strides: &[usize],
) -> Result<(Stream, usize)> {
    require_one_stream(slice.stream())?;
    let bytes = tensor::span_bytes((T::DTYPE, T::BYTES), shape, strides)?;
    let (required, actual) = (bytes / T::BYTES, slice.len());
    if required > actual {
        return Err(Error::Length { operation: "view", shape: shape.to_vec(), required, actual });
    }
    Ok((Stream::from_cudarc(slice.stream())?, bytes))
}

/// A tensor that could not become a slice, and why.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
#[non_exhaustive]
pub struct Kept<T, const R: usize> {
    /// The tensor, as it was.
    pub tensor: DeviceTensor<T, R>,
    /// What [`into_slice`] says.
    pub error: Error,
}

/// The tensor's memory as a slice of cudarc, in row-major order, for use on `stream` after Kiln's work on it. Nothing
/// is copied.
///
/// # Errors
/// [`Kept`] has the tensor, and the error: [`Error::NotOwned`] when graphs or views of the memory exist, or another library has it as
/// well; [`Error::NotContiguous`] for a tensor that does not cover its memory in row-major order; [`Error::StreamOfAnotherDevice`],
/// [`Error::Driver`].
pub fn into_slice<T: Element, const R: usize>(
    mut tensor: DeviceTensor<T, R>,
    stream: &Arc<CudaStream>,
) -> Result<CudaSlice<T>, Box<Kept<T, R>>> {
    slice_of(&mut tensor, stream).map_err(|error| Box::new(Kept { tensor, error }))
}

/// Takes the memory out of a tensor.
fn slice_of<T: Element, const R: usize>(
    tensor: &mut DeviceTensor<T, R>,
    stream: &Arc<CudaStream>,
) -> Result<CudaSlice<T>> {
    require_one_stream(stream)?;
    let kiln = Stream::from_cudarc(stream)?;
    if tensor.is_empty() {
        let device = kiln.device().label();
        return stream.null().map_err(|code| {
            let cause = Box::new(describe("cuMemAllocAsync", code.0));
            Error::Driver { device, cause }
        });
    }
    let (address, count) = tensor.give_up("into_slice", &kiln)?;
    // SAFETY: the driver gave the memory for as many elements, as cudarc's allocations are made; nothing else has it any more, and
    // the stream waits for the work on it.
    Ok(unsafe { stream.upgrade_device_ptr(address, count) })
}

impl<T, const R: usize> Deref for View<'_, T, R> {
    type Target = DeviceTensor<T, R>;
    fn deref(&self) -> &Self::Target {
        &self.tensor
    }
}

impl<T, const R: usize> Deref for ViewMut<'_, T, R> {
    type Target = DeviceTensor<T, R>;
    fn deref(&self) -> &Self::Target {
        &self.tensor
    }
}

/// No `DerefMut`: the tensor could be moved out of the view, and outlive the slice.
#[diagnostic::do_not_recommend]
impl<T, const R: usize> TensorArgumentMut<T, R> for ViewMut<'_, T, R> {
    fn tensor_mut(&mut self) -> Result<TensorRefMut<'_, T, R>> {
        Ok((&mut self.tensor).into())
    }
}

impl<T, const R: usize> fmt::Debug for View<'_, T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.tensor, f)
    }
}

impl<T, const R: usize> fmt::Debug for ViewMut<'_, T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.tensor, f)
    }
}
