//! Pinned host memory: the device copies from and to it while the host goes on.

mod host;

use crate::{
    Device, DeviceTensor, Element, Error, Result, Stream, back_end::Mark, buffer::Access, tensor,
};
pub(crate) use host::HostMemory;
use std::{
    fmt,
    marker::PhantomData,
    ops::{Deref, DerefMut},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Elements in host memory that the device accesses directly: [`Stream::upload_async`] and [`Stream::download_async`]
/// return at once.
///
/// The host accesses the elements through guards, which wait for copies in flight. While a guard is held, copies that
/// conflict with it are refused. The memory is freed when the last copy is done. On the emulator it is ordinary memory.
pub struct Pinned<T> {
    memory: Arc<Memory>,
    element: PhantomData<T>,
}

/// Pinned memory without its type.
pub(crate) struct Memory {
    device: Device,
    host: HostMemory,
    len: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Read guards of the host.
    readers: usize,
    /// The host's write guard.
    writer: bool,
    /// Copies out of the memory that may be in flight.
    reads: Vec<Mark>,
    /// The last copy into it.
    write: Option<Mark>,
}

/// How many copies out of one piece of memory are remembered before finished ones are removed.
const MANY_READS: usize = 8;

/// A copy that is being enqueued: guards of the host wait until it is, and then for the copy itself.
#[must_use = "the copy counts from `end` on"]
pub(crate) struct Copy<'a> {
    state: MutexGuard<'a, State>,
    access: Access,
}

impl Memory {
    /// The memory; a copy is enqueued between [`Self::begin`] and [`Copy::end`].
    #[cfg(feature = "cuda")]
    pub(crate) fn host(&self) -> &HostMemory {
        &self.host
    }

    /// Runs a copy of the emulator's out of the bytes, between [`Self::begin`] and [`Copy::end`].
    #[cfg(feature = "emulator")]
    pub(crate) fn copy_out<U>(&self, copy: impl FnOnce(&[u8]) -> U) -> U {
        // SAFETY: the thread holds the lock since `begin`, which has seen that the host has no writer.
        copy(unsafe { self.host.as_bytes() })
    }

    /// As [`Self::copy_out`], into the bytes.
    #[cfg(feature = "emulator")]
    pub(crate) fn copy_in<U>(&self, copy: impl FnOnce(&mut [u8]) -> U) -> U {
        // SAFETY: the thread holds the lock since `begin`, which has seen that the host looks at nothing.
        copy(unsafe { self.host.as_bytes_mut() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Orders a copy on `stream`; `access` says what it does to this memory. [`Copy::end`] follows once it is enqueued.
    pub(crate) fn begin(&self, stream: &Stream, access: Access) -> Result<Copy<'_>> {
        let state = self.state();
        let held = state.writer || (access == Access::Write && state.readers != 0);
        if held {
            return Err(Error::PinnedInUse);
        }
        let reads = state.reads.iter().filter(|_| access == Access::Write);
        reads.chain(&state.write).try_for_each(|mark| stream.queue().wait(mark))?;
        Ok(Copy { state, access })
    }
}

impl Copy<'_> {
    pub(crate) fn end(mut self, stream: &Stream) -> Result<()> {
        let mark = match stream.queue().record() {
            Ok(mark) => mark,
            Err(error) => {
                // Without a mark nobody can tell when the copy is done: only the whole stream can.
                stream.queue().synchronize()?;
                return Err(error);
            }
        };
        let state = &mut *self.state;
        match self.access {
            Access::Read => {
                if state.reads.len() >= MANY_READS {
                    state.reads.retain(|mark| !mark.is_over().unwrap_or(false));
                }
                state.reads.push(mark);
            }
            Access::Write => {
                // It waits for all others.
                state.reads.clear();
                state.write = Some(mark);
            }
        }
        Ok(())
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut marks = state.reads.drain(..).chain(state.write.take());
        // A device that fails says so to the next operation. The memory is kept then: a copy may still be writing to it.
        if marks.any(|mark| mark.wait_for_end().is_err()) {
            self.host.leak();
        }
    }
}

impl Device {
    /// Pinned memory for `len` elements, each [`Default`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] when the host has no such memory; [`Error::TooLarge`].
    pub fn pinned<T: Element>(&self, len: usize) -> Result<Pinned<T>> {
        const { assert!(T::ANY_BITS, "a device may leave bits in a `bool` that are none: use `u8`") }
        let bytes = tensor::bytes_of::<T>(&[len])?;
        let host = self.host_memory(bytes)?;
        let state = Mutex::default();
        let memory = Arc::new(Memory { device: self.clone(), host, len, state });
        let pinned = Pinned { memory, element: PhantomData };
        pinned.write()?.fill(T::default());
        Ok(pinned)
    }
}

impl<T: Element> Pinned<T> {
    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.memory.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements, after waiting for copies into them that are in flight.
    ///
    /// # Errors
    /// [`Error::PinnedInUse`] while [`Self::write`]'s guard is held; [`Error::Driver`] when a kernel or a copy failed;
    /// [`Error::Comm`] when a group of devices failed whose operations were before the copy: the data is not there.
    pub fn read(&self) -> Result<PinnedRef<'_, T>> {
        let mut state = self.memory.state();
        if state.writer {
            return Err(Error::PinnedInUse);
        }
        if let Some(mark) = &state.write {
            mark.synchronize()?;
        }
        state.readers += 1;
        Ok(PinnedRef { pinned: self })
    }

    /// The elements, to be written, after waiting for all copies in flight.
    ///
    /// # Errors
    /// [`Error::PinnedInUse`] while another guard is held; [`Error::Driver`] when a kernel or a copy failed.
    pub fn write(&self) -> Result<PinnedMut<'_, T>> {
        let mut state = self.memory.state();
        if state.writer || state.readers != 0 {
            return Err(Error::PinnedInUse);
        }
        // What the copies have brought is overwritten, and be it of a group that has failed.
        state.reads.iter().chain(&state.write).try_for_each(Mark::wait_for_end)?;
        state.reads.clear();
        state.write = None;
        state.writer = true;
        Ok(PinnedMut { pinned: self })
    }
}

/// The host's shared access to [`Pinned`] elements.
pub struct PinnedRef<'a, T: Element> {
    pinned: &'a Pinned<T>,
}

/// The host's exclusive access to [`Pinned`] elements.
pub struct PinnedMut<'a, T: Element> {
    pinned: &'a Pinned<T>,
}

impl<T: Element> Deref for PinnedRef<'_, T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        // SAFETY: the memory holds `len` elements, each written since `Device::pinned`, of a type that takes any bits. No copy
        // into it is under way, and none begins while a reader is counted.
        unsafe {
            std::slice::from_raw_parts(self.pinned.memory.host.start().cast(), self.pinned.len())
        }
    }
}

impl<T: Element> Deref for PinnedMut<'_, T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        // SAFETY: as for a reader; while there is a writer no copy begins.
        unsafe {
            std::slice::from_raw_parts(self.pinned.memory.host.start().cast(), self.pinned.len())
        }
    }
}

impl<T: Element> DerefMut for PinnedMut<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above; there is one writer and no reader.
        unsafe {
            std::slice::from_raw_parts_mut(
                self.pinned.memory.host.start().cast(),
                self.pinned.len(),
            )
        }
    }
}

impl<T: Element> Drop for PinnedRef<'_, T> {
    fn drop(&mut self) {
        self.pinned.memory.state().readers -= 1;
    }
}

impl<T: Element> Drop for PinnedMut<'_, T> {
    fn drop(&mut self) {
        self.pinned.memory.state().writer = false;
    }
}

impl Stream {
    /// Copies pinned elements, in row-major order, into a contiguous tensor, without waiting.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::NotContiguous`], [`Error::StreamOfAnotherDevice`]; [`Error::PinnedInUse`] while the host writes
    /// to the elements.
    pub fn upload_async<T: Element, const R: usize>(
        &self,
        to: &mut DeviceTensor<T, R>,
        from: &Pinned<T>,
    ) -> Result<()> {
        tensor::check_length("upload_async", &to.shape(), from.len())?;
        self.copy_pinned(&from.memory, Access::Read, || {
            to.contiguous_on("upload_async", self, Access::Write, |address| {
                self.queue().upload_pinned(address, &from.memory)
            })
        })
    }

    /// Copies a contiguous tensor into pinned memory, in row-major order, without waiting; [`Pinned::read`] waits and
    /// gives the elements.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::NotContiguous`], [`Error::StreamOfAnotherDevice`]; [`Error::PinnedInUse`] while the
    /// host holds a guard.
    pub fn download_async<T: Element, const R: usize>(
        &self,
        from: &DeviceTensor<T, R>,
        to: &Pinned<T>,
    ) -> Result<()> {
        tensor::check_length("download_async", &from.shape(), to.len())?;
        self.copy_pinned(&to.memory, Access::Write, || {
            from.contiguous_on("download_async", self, Access::Read, |address| {
                self.queue().download_pinned(address, &to.memory)
            })
        })
    }

    fn copy_pinned(
        &self,
        memory: &Arc<Memory>,
        access: Access,
        enqueue: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        if memory.len == 0 {
            return Ok(());
        }
        if memory.device != *self.device() {
            return Err(Error::StreamOfAnotherDevice {
                operation: "a copy of pinned memory",
                required: self.device().label(),
                actual: memory.device.label_beside(self.device()),
            });
        }
        if let Some(recording) = self.recording() {
            recording.add_pinned(memory, access)?;
            return enqueue();
        }
        self.queue().require_usable()?;
        let copy = memory.begin(self, access)?;
        // Also after an error: the copy may be on the stream.
        let enqueued = enqueue();
        let ended = copy.end(self);
        enqueued.and(ended)
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} pinned elements for {}", self.len, self.device.label())
    }
}

impl<T> fmt::Debug for Pinned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.memory, f)
    }
}

impl<T: Element> fmt::Debug for PinnedRef<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<T: Element> fmt::Debug for PinnedMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
