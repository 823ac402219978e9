//! The devices of candle's tensors, and Kiln's streams on them.
//!
//! A tensor on the CPU is copied to Kiln's emulator, and results are copied back. A tensor on a GPU stays in place: see
//! `cuda`.

use crate::Result;
#[cfg(feature = "cuda")]
pub(crate) use crate::cuda::Placed;
use candle_core::{CpuStorage, DType, DeviceLocation};
#[cfg(feature = "cuda")]
use candle_core::{CudaDevice, CudaStorage};
use kiln::{Device, DeviceTensor, Stream, Target};
#[cfg(feature = "cuda")]
use std::marker::PhantomData;

/// Requirements of the GPU on an element type; none without the feature `cuda`.
#[cfg(not(feature = "cuda"))]
#[doc(hidden)]
pub trait Placed {}

#[cfg(not(feature = "cuda"))]
impl<T: kiln::Element> Placed for T {}

/// A tensor's storage as candle hands it to an op.
#[derive(Clone, Copy)]
pub(crate) enum Source<'a> {
    Cpu(&'a CpuStorage),
    #[cfg(feature = "cuda")]
    Cuda(&'a CudaStorage),
}

impl<'a> Source<'a> {
    /// Ready for kernels that run for the CPU; the caller has checked the location.
    pub(crate) fn on_cpu(self) -> Memory<'a> {
        match self {
            Self::Cpu(storage) => Memory::Cpu(storage),
            #[cfg(feature = "cuda")]
            Self::Cuda(_) => unreachable!("`with_call` refuses inputs on several devices"),
        }
    }

    pub(crate) fn location(self) -> DeviceLocation {
        match self {
            Self::Cpu(_) => DeviceLocation::Cpu,
            #[cfg(feature = "cuda")]
            Self::Cuda(storage) => {
                use candle_core::backend::BackendDevice;
                storage.device.location()
            }
        }
    }
}

/// The elements of a storage, ready for a kernel.
#[derive(Clone, Copy)]
pub(crate) enum Memory<'a> {
    Cpu(&'a CpuStorage),
    #[cfg(feature = "cuda")]
    Cuda {
        address: u64,
        elements: usize,
        dtype: DType,
        /// The storage, which keeps the memory.
        storage: PhantomData<&'a CudaStorage>,
    },
}

impl Memory<'_> {
    pub(crate) fn dtype(self) -> DType {
        match self {
            Self::Cpu(storage) => dtype_of(storage),
            #[cfg(feature = "cuda")]
            Self::Cuda { dtype, .. } => dtype,
        }
    }
}

pub(crate) fn dtype_of(storage: &CpuStorage) -> DType {
    use candle_core::backend::BackendStorage;
    storage.dtype()
}

/// Where an op runs.
pub(crate) enum Place {
    Cpu,
    #[cfg(feature = "cuda")]
    Cuda(CudaDevice),
}

/// A stream for tensors on the CPU: of the emulator of the newest target, or of the device that `KILN_DEVICE` names.
pub(crate) fn stream_for_cpu(targets: &[Target]) -> Result<Stream> {
    if std::env::var_os("KILN_DEVICE").is_some() {
        return Ok(Device::best_for(targets)?.stream()?);
    }
    Ok(Device::emulator_for(targets)?.stream()?)
}

/// Copies the elements of a layout to the device of a stream. They have the same strides there, and the same distance
/// from an address that is a multiple of [`ALIGNMENT`] as from the start of their storage, which on a GPU has such an
/// address. So a kernel takes the same variant in both places.
pub(crate) fn upload<T: kiln::Element, const R: usize>(
    stream: &Stream,
    values: &[T],
    (offset, shape, strides): (usize, [usize; R], [usize; R]),
) -> Result<DeviceTensor<T, R>> {
    let skipped = offset % (ALIGNMENT / T::BYTES);
    let span = span_of(&shape, &strides);
    let values = if span == 0 { &[] } else { &values[offset - skipped..offset + span] };
    Ok(stream.upload(values, [values.len()])?.into_strided(skipped, shape, strides)?)
}

/// The alignment of allocations on a GPU, in bytes.
const ALIGNMENT: usize = 256;

/// Elements from the first to the last one in memory, gaps included. The layout is known to lie within its storage.
pub(crate) fn span_of(shape: &[usize], strides: &[usize]) -> usize {
    if shape.contains(&0) {
        return 0;
    }
    let last: usize = shape.iter().zip(strides).map(|(extent, stride)| (extent - 1) * stride).sum();
    last + 1
}
