//! Streams: work in order on one device; and events, points in that order.

use crate::{
    DeviceTensor, Element, Error, Result,
    back_end::{Mark, Queue},
    buffer::{Access, Buffer},
    device::Device,
    tensor,
};
use std::{fmt, sync::Arc};

/// Work in order on one device. Clones name the same stream.
///
/// Kernels launched on a GPU's stream run after the launch has returned; on the emulator they have run
/// by then. Tensors may move between streams of a device: a use waits for the uses that it depends on.
#[derive(Clone)]
pub struct Stream {
    inner: Arc<Inner>,
}

struct Inner {
    id: u64,
    device: Device,
    queue: Queue,
}

impl Stream {
    #[cfg(any(feature = "cuda", feature = "emulator"))]
    pub(crate) fn new(device: Device, queue: Queue) -> Self {
        use std::sync::atomic::{AtomicU64, Ordering};
        // 0 stands for "several streams" in a buffer.
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { inner: Arc::new(Inner { id, device, queue }) }
    }

    pub(crate) fn id(&self) -> u64 {
        self.inner.id
    }

    pub(crate) fn queue(&self) -> &Queue {
        &self.inner.queue
    }

    /// The stream's device.
    pub fn device(&self) -> &Device {
        &self.inner.device
    }

    /// Waits until all work of the stream is done.
    ///
    /// # Errors
    /// [`Error::Driver`] when a kernel or a copy failed.
    pub fn synchronize(&self) -> Result<()> {
        self.queue().synchronize()
    }

    /// Marks the end of the work so far.
    ///
    /// # Errors
    /// [`Error::Driver`] when the device has failed.
    pub fn record(&self) -> Result<Event> {
        Ok(Event { device: self.device().clone(), mark: self.queue().record()? })
    }

    /// Lets later work of this stream wait for an event of the same device.
    ///
    /// # Errors
    /// [`Error::EventsOfTwoDevices`] for an event of another device; [`Error::Driver`] when the device
    /// has failed.
    pub fn wait(&self, event: &Event) -> Result<()> {
        same_device(self.device(), &event.device)?;
        self.queue().wait(&event.mark)
    }

    /// A new tensor of unspecified content, row-major.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::TooLarge`].
    pub fn empty<T: Element, const R: usize>(
        &self,
        shape: [usize; R],
    ) -> Result<DeviceTensor<T, R>> {
        let bytes = tensor::bytes_of::<T>(&shape)?;
        Ok(DeviceTensor::new(Buffer::new(self, bytes)?, shape))
    }

    /// A new tensor of zeros, row-major.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::TooLarge`].
    pub fn zeros<T: Element, const R: usize>(
        &self,
        shape: [usize; R],
    ) -> Result<DeviceTensor<T, R>> {
        self.full(shape, T::default())
    }

    /// A new tensor whose elements are all `value`, row-major.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::TooLarge`].
    pub fn full<T: Element, const R: usize>(
        &self,
        shape: [usize; R],
        value: T,
    ) -> Result<DeviceTensor<T, R>> {
        let mut tensor = self.empty(shape)?;
        self.fill(&mut tensor, value)?;
        Ok(tensor)
    }

    /// A new tensor with the elements of a host slice, in row-major order.
    ///
    /// # Errors
    /// [`Error::Length`] when the slice does not have as many elements as the shape;
    /// [`Error::OutOfMemory`], [`Error::TooLarge`].
    pub fn upload<T: Element, const R: usize>(
        &self,
        values: &[T],
        shape: [usize; R],
    ) -> Result<DeviceTensor<T, R>> {
        tensor::check_length("upload", &shape, values.len())?;
        let mut tensor = self.empty(shape)?;
        self.write(&mut tensor, values)?;
        Ok(tensor)
    }

    /// Writes a host slice, in row-major order, over a contiguous tensor.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::NotContiguous`], [`Error::StreamOfAnotherDevice`].
    pub fn write<T: Element, const R: usize>(
        &self,
        to: &mut DeviceTensor<T, R>,
        values: &[T],
    ) -> Result<()> {
        tensor::check_length("write", &to.shape(), values.len())?;
        if values.is_empty() {
            return Ok(());
        }
        let address = to.contiguous_on("write", self, Access::Write)?;
        self.queue().upload(address, values)
    }

    /// Sets all elements of a contiguous tensor.
    ///
    /// # Errors
    /// [`Error::NotContiguous`], [`Error::StreamOfAnotherDevice`].
    pub fn fill<T: Element, const R: usize>(
        &self,
        to: &mut DeviceTensor<T, R>,
        value: T,
    ) -> Result<()> {
        if to.is_empty() {
            return Ok(());
        }
        let address = to.contiguous_on("fill", self, Access::Write)?;
        self.queue().fill(address, value, to.len())
    }

    /// Copies a contiguous tensor over another one of the same shape on the same device.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::NotContiguous`], [`Error::StreamOfAnotherDevice`].
    pub fn copy<T: Element, const R: usize>(
        &self,
        from: &DeviceTensor<T, R>,
        to: &mut DeviceTensor<T, R>,
    ) -> Result<()> {
        if from.shape() != to.shape() {
            return Err(Error::Shape {
                operation: "copy",
                required: to.shape().to_vec(),
                actual: from.shape().to_vec(),
            });
        }
        if from.is_empty() {
            return Ok(());
        }
        let source = from.contiguous_on("copy", self, Access::Read)?;
        let target = to.contiguous_on("copy", self, Access::Write)?;
        self.queue().copy(source, target, from.len() * T::BYTES)
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream {} on {}", self.id(), self.device().label())
    }
}

/// A point in the work of a stream.
#[derive(Debug)]
pub struct Event {
    device: Device,
    mark: Mark,
}

impl Event {
    /// Waits until the work before the event is done.
    ///
    /// # Errors
    /// [`Error::Driver`] when a kernel or a copy failed.
    pub fn synchronize(&self) -> Result<()> {
        self.mark.synchronize()
    }

    /// Whether the work before the event is done.
    ///
    /// # Errors
    /// [`Error::Driver`] when a kernel or a copy failed.
    pub fn is_done(&self) -> Result<bool> {
        self.mark.is_done()
    }

    /// Milliseconds from this event to `later`, once both are done; the device's clock resolves about
    /// half a microsecond. On the emulator this is the host's time.
    ///
    /// # Errors
    /// [`Error::EventsOfTwoDevices`]; [`Error::Driver`] when a kernel or a copy failed.
    pub fn elapsed_ms(&self, later: &Self) -> Result<f32> {
        same_device(&self.device, &later.device)?;
        self.mark.elapsed_ms(&later.mark)
    }
}

fn same_device(required: &Device, actual: &Device) -> Result<()> {
    if required == actual {
        return Ok(());
    }
    let (required, actual) = (required.label(), actual.label_beside(required));
    Err(Error::EventsOfTwoDevices { required, actual })
}
