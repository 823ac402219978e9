//! candle's tensors on a GPU, used in place.
//!
//! Kernels are launched on the stream of candle's device, so they are in order with candle's own, and the host does not
//! wait. Inputs are views of candle's memory; candle allocates outputs, as for its own operations. If a program has
//! several candle devices on one GPU, each with its own stream, cudarc's events keep their order: an input comes from
//! `device_ptr`, whose guard lives until the launch is enqueued, and an output is marked as written.

use crate::{
    Arg, Call, Edited, Element, Error, Result,
    call::Given,
    place::{Memory, Source},
};
use candle_core::{
    CudaDevice, CudaStorage, DType,
    backend::BackendStorage,
    cuda::{
        CudaDType, CudaStorageSlice,
        cudarc::driver::{CudaSlice, DevicePtr, DevicePtrMut, DeviceRepr, SyncOnDrop},
    },
};
use float8::F8E4M3;
use half::{bf16, f16};
use kiln::{
    DeviceTensor, Stream, TensorView, TensorViewMut,
    prelude::{e4m3, ue8m0},
};
use std::{marker::PhantomData, sync::Arc};

/// The type of an element in candle's CUDA tensors.
#[doc(hidden)]
pub trait Placed: Sized + 'static {
    /// The type with the same size and bits in candle and cudarc.
    type Raw: DeviceRepr + Send + Sync + 'static;

    /// candle's storage of a slice.
    fn wrap(slice: CudaSlice<Self::Raw>, device: CudaDevice) -> CudaStorage;
}

macro_rules! placed {
    ($($type:ty as $raw:ty;)*) => {$(
        impl Placed for $type {
            type Raw = $raw;
            fn wrap(slice: CudaSlice<$raw>, device: CudaDevice) -> CudaStorage {
                <$raw as CudaDType>::wrap_cuda_slice(slice, device)
            }
        }
    )*};
}

placed! {
    u8 as u8;
    u32 as u32;
    i16 as i16;
    i32 as i32;
    i64 as i64;
    f16 as f16;
    bf16 as bf16;
    f32 as f32;
    f64 as f64;
    e4m3 as F8E4M3;
}

impl Placed for ue8m0 {
    type Raw = u8;
    fn wrap(slice: CudaSlice<u8>, device: CudaDevice) -> CudaStorage {
        CudaStorage { slice: CudaStorageSlice::F8E8M0(slice), device }
    }
}

/// The memory of an output, which a Kiln tensor shares while it exists.
pub(crate) type Slice<T> = Arc<CudaSlice<<T as Placed>::Raw>>;

/// Evaluates an expression for the slice of a storage, whatever its type.
macro_rules! for_slice {
    ($storage:expr, $slice:ident => $value:expr) => {
        match $storage {
            CudaStorageSlice::U8($slice)
            | CudaStorageSlice::F6E2M3($slice)
            | CudaStorageSlice::F6E3M2($slice)
            | CudaStorageSlice::F4($slice)
            | CudaStorageSlice::F8E8M0($slice) => $value,
            CudaStorageSlice::U32($slice) => $value,
            CudaStorageSlice::I16($slice) => $value,
            CudaStorageSlice::I32($slice) => $value,
            CudaStorageSlice::I64($slice) => $value,
            CudaStorageSlice::BF16($slice) => $value,
            CudaStorageSlice::F16($slice) => $value,
            CudaStorageSlice::F32($slice) => $value,
            CudaStorageSlice::F64($slice) => $value,
            CudaStorageSlice::F8E4M3($slice) => $value,
        }
    };
}

pub(crate) fn len_of(storage: &CudaStorage) -> usize {
    for_slice!(&storage.slice, slice => slice.len())
}

pub(crate) fn dtype_of(storage: &CudaStorage) -> DType {
    storage.dtype()
}

/// Shape and strides, and the element of a storage where they start.
type Strided<const R: usize> = (usize, [usize; R], [usize; R]);

/// Runs the body of an op on the stream of a candle device.
pub(crate) fn with_call<const N: usize, O>(
    op: &'static str,
    device: &CudaDevice,
    given: [Given<'_>; N],
    body: impl FnOnce(&Call, [Arg<'_>; N]) -> Result<O>,
) -> Result<O> {
    let theirs = device.cuda_stream();
    let call = Call::on_cuda(op, Stream::from_cudarc(&theirs)?, device.clone());
    let mut guards: Vec<SyncOnDrop<'_>> = Vec::with_capacity(N);
    let ready = given.map(|(source, layout)| {
        let Source::Cuda(storage) = source else {
            unreachable!("`with_call` refuses inputs on several devices")
        };
        let (address, guard) = for_slice!(&storage.slice, slice => slice.device_ptr(&theirs));
        guards.push(guard);
        let (elements, dtype) = (len_of(storage), dtype_of(storage));
        (Memory::Cuda { address, elements, dtype, storage: PhantomData }, layout)
    });
    let result = body(&call, call.args(ready));
    // What the body has launched is enqueued; a stream that waits for these reads waits for it.
    drop(guards);
    result
}

/// An input as a tensor over candle's memory.
#[expect(unsafe_code, reason = "Kiln relies on what is said of candle's memory")]
pub(crate) fn view<'a, T: Element, const R: usize>(
    stream: &Stream,
    address: u64,
    (offset, shape, strides): Strided<R>,
    _storage: PhantomData<&'a CudaStorage>,
) -> Result<TensorView<'a, T, R>> {
    let address = address + (offset * T::BYTES) as u64;
    // SAFETY: the layout lies within the storage (`arg::within`), whose elements are of type `T` or of its bits (`Arg::with`
    // compared the dtype), and which lives as long as the view. Other streams are in order through the guard that `with_call`
    // holds. Allocations are aligned to 256 bytes.
    Ok(unsafe { TensorView::from_borrowed(stream, address, shape, strides)? })
}

/// A tensor of unspecified content, allocated by candle.
#[expect(unsafe_code, reason = "Kiln relies on what is said of candle's memory")]
pub(crate) fn empty<T: Element, const R: usize>(
    stream: &Stream,
    device: &CudaDevice,
    shape: [usize; R],
) -> Result<(DeviceTensor<T, R>, Slice<T>)> {
    let elements = shape.iter().try_fold(1usize, |count, extent| count.checked_mul(*extent));
    let elements = elements
        .filter(|count| count.checked_mul(T::BYTES).is_some_and(|b| isize::try_from(b).is_ok()))
        .ok_or_else(|| kiln::Error::TooLarge { shape: shape.to_vec(), dtype: T::DTYPE })?;
    // The driver allocates no empty ranges.
    // SAFETY: the elements are numbers of which every bit pattern is one, and they are read on the device only after the body's
    // kernels had them to write.
    let slice: CudaSlice<T::Raw> = unsafe { device.alloc(elements.max(1))? };
    let slice = Arc::new(slice);
    let theirs = device.cuda_stream();
    let (address, guard) = slice.device_ptr(&theirs);
    drop(guard);
    let mut strides = [1; R];
    for axis in (1..R).rev() {
        strides[axis - 1] = strides[axis] * shape[axis].max(1);
    }
    // SAFETY: the memory is a new allocation of at least that many elements, on this stream, and the tensor keeps it.
    let tensor =
        unsafe { DeviceTensor::from_raw(stream, address, shape, strides, Arc::clone(&slice))? };
    Ok((tensor, slice))
}

/// The memory of an output as candle's, once its tensor is gone.
pub(crate) fn finish<T: Element>(
    op: &'static str,
    slice: Slice<T>,
    device: CudaDevice,
) -> Result<CudaStorage> {
    let mut slice = Arc::into_inner(slice).ok_or(Error::Kept { op })?;
    let theirs = device.cuda_stream();
    // What has been launched is a write, for uses on other streams of candle's.
    drop(slice.device_ptr_mut(&theirs));
    Ok(T::wrap(slice, device))
}

/// Runs a launch that changes candle's memory.
#[expect(unsafe_code, reason = "Kiln relies on what is said of candle's memory")]
pub(crate) fn edit<T: Element, const R: usize, E>(
    stream: &Stream,
    storage: &mut CudaStorage,
    (offset, shape, strides): Strided<R>,
    launch: impl FnOnce(&mut Edited<'_, T, R>) -> Result<(), E>,
) -> Result<()>
where
    Error: From<E>,
{
    let theirs = storage.device.cuda_stream();
    let (address, guard) = for_slice!(&mut storage.slice, slice => slice.device_ptr_mut(&theirs));
    let address = address + (offset * T::BYTES) as u64;
    // SAFETY: the layout lies within the storage (`arg::within`), whose elements are of type `T` or of its bits, and which is
    // exclusively ours until the guard is gone. `Edited` lets nobody move the tensor out of it.
    let view = unsafe { TensorViewMut::from_borrowed(stream, address, shape, strides)? };
    let launched = launch(&mut Edited::of(view));
    drop(guard);
    Ok(launched?)
}
