//! Streams and memory of other libraries, used in place.
//!
//! A program that already has a CUDA context, through another library, can pass its streams and memory to Kiln, and
//! Kiln's to the library. Nothing is copied, and the host does not wait: the streams order the library's work and
//! Kiln's. Kiln's work on the library's own stream is in order by itself. On another stream, each use waits for what
//! the library's stream has so far, and the library's stream then waits for the use, both with events.

use crate::{
    Device, DeviceTensor, Element, Error, Result, Stream, TensorView, TensorViewMut,
    buffer::{Buffer, Lease},
    tensor,
};
use std::{ffi::c_void, panic::AssertUnwindSafe};

/// What a device knows about an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(any(feature = "cuda", feature = "emulator")),
    expect(dead_code, reason = "there is no device to ask")
)]
pub(crate) enum Found {
    /// It lies in this allocation.
    Range { start: u64, bytes: u64 },
    /// It is memory of the host.
    #[cfg(feature = "cuda")]
    Host,
    /// It is memory of another GPU.
    #[cfg(feature = "cuda")]
    OtherDevice { ordinal: usize },
    /// Nothing is there.
    Nothing,
}

/// Whether the library that made a stream may record its work into a graph: the memory that the work uses has to live
/// as long as that graph, which Kiln does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recorded {
    /// The caller who passed the stream has guaranteed it.
    Promised,
    /// Nobody has guaranteed it: the work is refused.
    #[cfg(feature = "cuda")]
    Never,
}

impl Stream {
    /// A stream that another library made, such as a `CUstream` or a `cudaStream_t`, or its default stream (null).
    ///
    /// Kiln's work on it is in order with the library's. Kiln does not destroy it: `owner`, such as an `Arc` of the
    /// library's own type, keeps it alive, and is dropped with the last clone of this stream and the last tensor that
    /// was made on it.
    ///
    /// The per-thread default stream (`CU_STREAM_PER_THREAD`, which candle's `Device::new_cuda` uses) is another one in
    /// each thread: use this stream, and tensors on it, only in the thread that makes it. Tensors that are dropped in
    /// another thread wait for the device.
    ///
    /// # Errors
    /// [`Error::ForeignContext`] for a stream that is not in the device's primary context, and on the emulator, which
    /// has no such streams; [`Error::Driver`] when the driver refuses it; later, [`Error::PerThreadStream`].
    ///
    /// # Safety
    /// `stream` is a stream of the driver that lives until `owner` is dropped. While another library records it into a
    /// graph, memory that is used on it has to stay allocated as long as the graph may be launched: Kiln does not know
    /// that graph. `torch.cuda.graph` keeps torch's own tensors in this way; the program has to keep Kiln's tensors.
    pub unsafe fn from_raw(
        device: &Device,
        stream: *mut c_void,
        owner: impl Send + Sync + 'static,
    ) -> Result<Self> {
        device.foreign_stream(stream, AssertUnwindSafe(Box::new(owner)), Recorded::Promised)
    }

    /// Makes this stream a user of the memory from now on, whatever is put on it.
    pub(crate) fn take_part_in(&self, buffer: &Buffer) -> Result<()> {
        let owner = buffer.home().device();
        if owner != self.device() {
            return Err(Error::StreamOfAnotherDevice {
                operation: "share_with",
                required: self.device().label(),
                actual: owner.label_beside(self.device()),
            });
        }
        self.outside_of_captures("sharing memory")?;
        buffer.share_with(self)
    }

    /// The driver's handle, a `CUstream`; `None` on the emulator. It is valid while a clone of this stream lives.
    pub fn raw(&self) -> Option<*mut c_void> {
        self.queue().raw()
    }
}

impl<T: Element, const R: usize> DeviceTensor<T, R> {
    /// A tensor over memory of another library: element 0 is at `address`; `strides` are in elements.
    ///
    /// `stream` is the stream on which the library uses the memory, from [`Stream::from_raw`], or a stream of Kiln if
    /// the library is done with it. The library's work there, before and after each use by Kiln, is in order with that
    /// use. `owner` keeps the memory allocated. With a stream of Kiln, it is dropped when Kiln's last use is done, if
    /// necessary by a thread of Kiln. With the library's stream, it is dropped as soon as that stream waits for Kiln's
    /// last use: it has to free the memory in the order of that stream. Kernels take the tensor like any other.
    ///
    /// Kiln checks what the device knows: that the address is aligned to the element's size, and that all elements lie
    /// in one allocation of this device that has not been freed. An allocator with its own pool may have given a part
    /// of that allocation to somebody else, which only the allocator knows.
    ///
    /// On the emulator, `address` is that of a tensor of the same device ([`DeviceTensor::address`]).
    ///
    /// # Errors
    /// [`Error::ForeignMemory`]; [`Error::TooLarge`] if the strides exceed the address range.
    ///
    /// # Safety
    /// These hold until `owner` is dropped and, if that frees the memory in the order of `stream`, until `stream` has
    /// reached that point: the memory is allocated; what is read before it is written holds elements of `T`; and work
    /// that Kiln does not know, on streams other than `stream`, does not write the memory, nor read it if Kiln writes
    /// it.
    pub unsafe fn from_raw(
        stream: &Stream,
        address: u64,
        shape: [usize; R],
        strides: [usize; R],
        owner: impl Send + Sync + 'static,
    ) -> Result<Self> {
        stream.outside_of_captures("a tensor over foreign memory")?;
        let dtype = (T::DTYPE, T::BYTES);
        let bytes = tensor::span_bytes(dtype, &shape, &strides)?;
        stream.device().require_memory(address, bytes, dtype)?;
        let address = if bytes == 0 { 0 } else { address };
        let buffer = Buffer::foreign(
            stream,
            address,
            bytes,
            Lease::Owned(AssertUnwindSafe(Box::new(owner))),
        );
        Ok(Self::over(buffer, shape, strides))
    }

    /// Shares the memory with another library, which uses it on `stream` from now on: that stream waits for Kiln's work
    /// on it, and each later use by Kiln on other streams is in order with that stream, as for [`Self::from_raw`].
    ///
    /// # Errors
    /// [`Error::StreamOfAnotherDevice`], [`Error::Driver`].
    pub fn share_with(&self, stream: &Stream) -> Result<()> {
        stream.take_part_in(self.buffer())
    }
}

impl<T: Element, const R: usize> TensorView<'_, T, R> {
    /// Like [`DeviceTensor::from_raw`], for memory that is only read.
    ///
    /// # Errors
    /// As [`DeviceTensor::from_raw`].
    ///
    /// # Safety
    /// As for [`DeviceTensor::from_raw`].
    pub unsafe fn from_raw(
        stream: &Stream,
        address: u64,
        shape: [usize; R],
        strides: [usize; R],
        owner: impl Send + Sync + 'static,
    ) -> Result<Self> {
        // SAFETY: the caller guarantees it.
        unsafe { DeviceTensor::from_raw(stream, address, shape, strides, owner) }
            .map(tensor::shared)
    }

    /// Like [`DeviceTensor::from_raw`], for memory that outlives the view, so that nothing has to own it. Nothing holds
    /// it longer either: a graph refuses the view. The driver does not check the address.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if the strides exceed the address range.
    ///
    /// # Safety
    /// As for [`DeviceTensor::from_raw`], for the view's lifetime; and the address is aligned to the element's size and
    /// belongs to the stream's device.
    pub unsafe fn from_borrowed(
        stream: &Stream,
        address: u64,
        shape: [usize; R],
        strides: [usize; R],
    ) -> Result<Self> {
        borrowed(stream, address, shape, strides).map(tensor::shared)
    }
}

impl<T: Element, const R: usize> TensorViewMut<'_, T, R> {
    /// Like [`DeviceTensor::from_raw`], as an exclusive view.
    ///
    /// # Errors
    /// As [`DeviceTensor::from_raw`].
    ///
    /// # Safety
    /// As for [`DeviceTensor::from_raw`].
    pub unsafe fn from_raw(
        stream: &Stream,
        address: u64,
        shape: [usize; R],
        strides: [usize; R],
        owner: impl Send + Sync + 'static,
    ) -> Result<Self> {
        // SAFETY: the caller guarantees it.
        unsafe { DeviceTensor::from_raw(stream, address, shape, strides, owner) }
            .map(tensor::exclusive)
    }

    /// Like [`TensorView::from_borrowed`], as an exclusive view.
    ///
    /// # Errors
    /// As [`TensorView::from_borrowed`].
    ///
    /// # Safety
    /// As for [`TensorView::from_borrowed`]; and what the view dereferences to is not moved out of it.
    pub unsafe fn from_borrowed(
        stream: &Stream,
        address: u64,
        shape: [usize; R],
        strides: [usize; R],
    ) -> Result<Self> {
        borrowed(stream, address, shape, strides).map(tensor::exclusive)
    }
}

/// A tensor that must not outlive its memory.
fn borrowed<T: Element, const R: usize>(
    stream: &Stream,
    address: u64,
    shape: [usize; R],
    strides: [usize; R],
) -> Result<DeviceTensor<T, R>> {
    stream.outside_of_captures("a tensor over foreign memory")?;
    let bytes = tensor::span_bytes((T::DTYPE, T::BYTES), &shape, &strides)?;
    let address = if bytes == 0 { 0 } else { address };
    let buffer = Buffer::foreign(stream, address, bytes, Lease::Borrowed);
    Ok(DeviceTensor::over(buffer, shape, strides))
}

impl Device {
    /// Refuses memory that the device does not know: `span` bytes of elements of a type with a name and a size.
    pub(crate) fn require_memory(
        &self,
        address: u64,
        span: usize,
        (dtype, element_bytes): (&'static str, usize),
    ) -> Result<()> {
        if span == 0 {
            return Ok(());
        }
        let refused = |actual: String| Error::ForeignMemory {
            device: self.label(),
            required: format!("{span} bytes of {dtype} at {address:#x}"),
            actual,
        };
        let alignment = 1 << element_bytes.trailing_zeros();
        if !address.is_multiple_of(alignment) {
            return Err(refused(format!("the address is no multiple of {alignment}")));
        }
        match self.find(address)? {
            Found::Range { start, bytes } => {
                let available = (start + bytes).saturating_sub(address);
                if available < span as u64 {
                    let range = format!("the allocation of {bytes} bytes at {start:#x}");
                    return Err(refused(format!("{range} has {available} bytes from there")));
                }
                Ok(())
            }
            #[cfg(feature = "cuda")]
            Found::Host => Err(refused("the address is memory of the host".to_owned())),
            #[cfg(feature = "cuda")]
            Found::OtherDevice { ordinal } => {
                Err(refused(format!("the address is memory of cuda:{ordinal}")))
            }
            Found::Nothing => {
                Err(refused("nothing is allocated there, or it has been freed".to_owned()))
            }
        }
    }
}
