//! Streams, ordered work on one device, and events, points in that order.

use crate::{
    DeviceTensor, Element, Error, Result,
    back_end::{Mark, Queue},
    buffer::{Access, Buffer},
    device::Device,
    graph::Recording,
    tensor,
};
use std::{fmt, sync::Arc};

/// Ordered work on one device. Clones name the same stream.
///
/// On a GPU, a kernel may run after its launch has returned; on the emulator it has run by then. Tensors may move
/// between streams of a device: a use waits for the uses that it depends on.
#[derive(Clone)]
pub struct Stream {
    inner: Arc<Inner>,
}

struct Inner {
    id: u64,
    device: Device,
    queue: Queue,
    /// The recording of the work, for the stream of a [`Device::capture`].
    recording: Option<Recording>,
}

impl Stream {
    pub(crate) fn new(device: Device, queue: Queue, recording: Option<Recording>) -> Self {
        use std::sync::atomic::{AtomicU64, Ordering};
        // 0 stands for "several streams" in a buffer.
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { inner: Arc::new(Inner { id, device, queue, recording }) }
    }

    pub(crate) fn id(&self) -> u64 {
        self.inner.id
    }

    pub(crate) fn queue(&self) -> &Queue {
        &self.inner.queue
    }

    /// Whether both put their work into one list: other libraries' streams may be named several times.
    pub(crate) fn is_same_queue(&self, other: &Self) -> bool {
        self.id() == other.id() || self.queue().is_same(other.queue())
    }

    /// Lets later work of this stream wait for the work so far of `other`.
    pub(crate) fn wait_for(&self, other: &Self) -> Result<()> {
        if self.is_same_queue(other) {
            return Ok(());
        }
        self.queue().wait_for(other.queue())
    }

    /// The address of `bytes` bytes of unspecified content; `bytes` is not zero.
    pub(crate) fn allocate(&self, bytes: usize) -> Result<u64> {
        self.outside_of_captures("an allocation")?;
        self.queue().allocate(bytes)
    }

    /// What the stream's work is recorded into.
    pub(crate) fn recording(&self) -> Option<&Recording> {
        self.inner.recording.as_ref()
    }

    /// Refuses what cannot be part of a graph.
    pub(crate) fn outside_of_captures(&self, operation: &'static str) -> Result<()> {
        match self.recording() {
            None => Ok(()),
            Some(_) => {
                Err(Error::NotInGraph { operation, instead: "do it outside of the capture" })
            }
        }
    }

    /// Orders a use after the uses that it depends on; a use that is recorded is put in order when its graph is launched.
    pub(crate) fn begin_use(&self, buffer: &Arc<Buffer>, access: Access) -> Result<()> {
        match self.recording() {
            None => {
                self.queue().require_usable()?;
                buffer.use_on(self, access)
            }
            Some(recording) => recording.add(buffer, access),
        }
    }

    /// Says that the use is enqueued.
    pub(crate) fn end_use(&self, buffer: &Buffer) -> Result<()> {
        match self.recording() {
            None => buffer.used_on(self),
            Some(_) => Ok(()),
        }
    }

    /// The stream's device.
    pub fn device(&self) -> &Device {
        &self.inner.device
    }

    /// Waits until all work of the stream is done.
    ///
    /// # Errors
    /// [`Error::Driver`] when a kernel or a copy failed; [`Error::Comm`] when a group of devices failed, once for what
    /// was on the stream; [`Error::PerThreadStream`].
    pub fn synchronize(&self) -> Result<()> {
        self.outside_of_captures("synchronize")?;
        self.queue().synchronize()
    }

    /// Marks the end of the work so far.
    ///
    /// # Errors
    /// [`Error::Driver`] when the device has failed; [`Error::PerThreadStream`].
    pub fn record(&self) -> Result<Event> {
        self.outside_of_captures("record")?;
        Ok(Event { device: self.device().clone(), mark: self.queue().record()? })
    }

    /// Makes later work of this stream wait for an event of this device or of another one of its kind: a GPU waits for
    /// a GPU.
    ///
    /// # Errors
    /// [`Error::EventsOfTwoDevices`] if one is a GPU and the other the emulator; [`Error::Driver`] when the device has
    /// failed.
    pub fn wait(&self, event: &Event) -> Result<()> {
        self.outside_of_captures("wait")?;
        if self.device().is_emulator() != event.device.is_emulator() {
            same_device(self.device(), &event.device)?;
        }
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

    /// Copies a host slice, in row-major order, into a contiguous tensor.
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
        self.outside_of_captures("write")?;
        to.contiguous_on("write", self, Access::Write, |address| {
            self.queue().upload(address, values)
        })
    }

    /// Copies a tensor's elements, in row-major order, into a host slice, after all work that writes them. Waits for
    /// the stream.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::StreamOfAnotherDevice`]; [`Error::Driver`] when a kernel or a copy failed.
    pub fn download_into<T: Element, const R: usize>(
        &self,
        from: &DeviceTensor<T, R>,
        values: &mut [T],
    ) -> Result<()> {
        tensor::check_length("download_into", &from.shape(), values.len())?;
        if T::ANY_BITS && from.is_contiguous() && !values.is_empty() {
            self.outside_of_captures("download_into")?;
            return from.contiguous_on("download_into", self, Access::Read, |address| {
                self.queue().download_into(address, values)
            });
        }
        // Elements that are apart are picked out of a copy, and a `bool` is checked.
        values.copy_from_slice(&from.to_vec(self)?);
        Ok(())
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
        let count = to.len();
        to.contiguous_on("fill", self, Access::Write, |address| {
            self.queue().fill(address, value, count)
        })
    }

    /// Copies a contiguous tensor into another one of the same shape.
    ///
    /// The tensors may be on two GPUs, or on two emulated ones, with the stream on either: the copy waits for work of
    /// both devices on them, and later work of both waits for the copy. If the GPUs cannot access each other, the
    /// driver copies through the host. Such a copy cannot be recorded into a graph.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::NotContiguous`], [`Error::StreamOfAnotherDevice`], [`Error::NotInGraph`].
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
        if from.device() != to.device() {
            return self.copy_between(from, to);
        }
        from.contiguous_on("copy", self, Access::Read, |source| {
            to.contiguous_on("copy", self, Access::Write, |target| {
                self.queue().copy(source, target, from.len() * T::BYTES)
            })
        })
    }

    fn copy_between<T: Element, const R: usize>(
        &self,
        from: &DeviceTensor<T, R>,
        to: &DeviceTensor<T, R>,
    ) -> Result<()> {
        let (source, target) = (from.device(), to.device());
        let is_other = |device: &&Device| *device != self.device();
        let is_elsewhere = is_other(&source) && is_other(&target);
        if is_elsewhere || source.is_emulator() != target.is_emulator() {
            let other = [source, target].into_iter().find(is_other).unwrap_or(target);
            return Err(Error::StreamOfAnotherDevice {
                operation: "copy",
                required: self.device().label(),
                actual: other.label_beside(self.device()),
            });
        }
        from.require_contiguous("copy")?;
        to.require_contiguous("copy")?;
        self.outside_of_captures("a copy between devices")?;
        self.begin_use(from.buffer(), Access::Read)?;
        self.begin_use(to.buffer(), Access::Write)?;
        let (source, target) = (from.buffer().home().queue(), to.buffer().home().queue());
        let bytes = from.len() * T::BYTES;
        self.queue().copy_between((source, from.address()), (target, to.address()), bytes)?;
        self.end_use(from.buffer())?;
        self.end_use(to.buffer())
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
    /// [`Error::Driver`] when a kernel or a copy failed; [`Error::Comm`] when a group of devices failed whose
    /// operations are before it.
    pub fn synchronize(&self) -> Result<()> {
        self.mark.synchronize()
    }

    /// Whether the work before the event is done.
    ///
    /// # Errors
    /// As [`Self::synchronize`].
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
