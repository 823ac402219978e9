//! Streams and events of the driver, and the work that goes onto streams.

use super::{Bound, Context, Gpu, check, library, tensor_map};
use crate::{
    Element, Error, Result,
    buffer::Owner,
    comm::Inbox,
    foreign::Recorded,
    tensor_map::{Encoding, TensorMap},
};
use cudarc::driver::sys;
use std::{
    ffi::c_void,
    fmt,
    ptr::null_mut,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::{self, ThreadId},
};

/// `CU_STREAM_PER_THREAD`: another stream in each thread (CUDA Driver API, "Stream synchronization behavior").
pub(super) const PER_THREAD: usize = 2;

/// A stream of the driver.
pub(crate) struct Queue {
    pub(super) gpu: Arc<Gpu>,
    context: Context,
    pub(super) stream: sys::CUstream,
    /// The data of a stream that is not Kiln's.
    foreign: Option<Foreign>,
    /// Groups of devices whose operations are on the stream since it was last waited for.
    comms: Mutex<Vec<Arc<Inbox>>>,
}

// SAFETY: a stream handle is an opaque pointer that the driver lets any thread use.
unsafe impl Send for Queue {}
// SAFETY: as above; the driver synchronises concurrent calls itself.
unsafe impl Sync for Queue {}

/// A stream of another library.
struct Foreign {
    recorded: Recorded,
    /// The only thread in which the handle means this stream, if it means another one in each.
    thread: Option<ThreadId>,
    /// Who destroys the stream; dropped with the queue.
    _owner: Owner,
}

/// An event of the driver.
pub(crate) struct Mark {
    gpu: Arc<Gpu>,
    context: Context,
    event: sys::CUevent,
    /// Groups of devices whose operations may be before it.
    comms: Vec<Arc<Inbox>>,
}

// SAFETY: an event handle is an opaque pointer that the driver lets any thread use.
unsafe impl Send for Mark {}
// SAFETY: as above; the driver synchronises concurrent calls itself.
unsafe impl Sync for Mark {}

/// The failure of one of these groups. It has ended the group's work: that is over, and its results are missing.
fn none_failed(comms: &[Arc<Inbox>]) -> Result<()> {
    let failure = comms.iter().find_map(|comm| comm.failure());
    failure.map_or(Ok(()), |error| Err(error.into_error()))
}

impl Queue {
    /// A stream that does not wait for the default stream.
    pub(crate) fn new(gpu: &Arc<Gpu>) -> Result<Self> {
        let context = gpu.context()?;
        let failed = |cause| gpu.failed(cause);
        let _bound = context.bind().map_err(failed)?;
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        let mut stream = null_mut();
        // SAFETY: the context is current; the pointer is to a live handle.
        let answer = unsafe { sys::cuStreamCreate(&raw mut stream, flags) };
        check("cuStreamCreate", answer).map_err(failed)?;
        Ok(Self { gpu: Arc::clone(gpu), context, stream, foreign: None, comms: Mutex::default() })
    }

    /// A stream of another library.
    ///
    /// The caller guarantees that it lives as long as `owner`, and what `recorded` says.
    pub(crate) fn foreign(
        gpu: &Arc<Gpu>,
        stream: *mut c_void,
        owner: Owner,
        recorded: Recorded,
    ) -> Result<Self> {
        let context = gpu.context()?;
        let failed = |cause| gpu.failed(cause);
        let _bound = context.bind().map_err(failed)?;
        let stream: sys::CUstream = stream.cast();
        let mut actual = null_mut();
        // SAFETY: the caller guarantees that the stream is alive; the pointer is to a live handle.
        let answer = unsafe { sys::cuStreamGetCtx(stream, &raw mut actual) };
        check("cuStreamGetCtx", answer).map_err(failed)?;
        if actual != context.0 {
            return Err(Error::ForeignContext { device: gpu.label() });
        }
        let thread = (stream.addr() == PER_THREAD).then(|| thread::current().id());
        let foreign = Some(Foreign { recorded, thread, _owner: owner });
        Ok(Self { gpu: Arc::clone(gpu), context, stream, foreign, comms: Mutex::default() })
    }

    /// Whether another library frees memory in the order of this stream.
    pub(super) fn is_foreign(&self) -> bool {
        self.foreign.is_some()
    }

    fn thread(&self) -> Option<ThreadId> {
        self.foreign.as_ref().and_then(|foreign| foreign.thread)
    }

    /// Whether the handle means this stream in another thread than this one.
    pub(crate) fn is_of_another_thread(&self) -> bool {
        self.thread().is_some_and(|thread| thread != thread::current().id())
    }

    /// Waits for all work of the device, whatever streams it is on.
    pub(crate) fn synchronize_device(&self) -> Result<()> {
        let failed = |cause| self.gpu.failed(cause);
        let _bound = self.context.bind().map_err(failed)?;
        // SAFETY: the context is current.
        check("cuCtxSynchronize", unsafe { sys::cuCtxSynchronize() }).map_err(failed)
    }

    /// Refuses a stream of another thread, and one that another library records into a graph, unless the caller has
    /// guaranteed that the memory stays.
    pub(crate) fn require_usable(&self) -> Result<()> {
        if self.is_of_another_thread() {
            return Err(Error::PerThreadStream);
        }
        match self.foreign {
            None | Some(Foreign { recorded: Recorded::Promised, .. }) => return Ok(()),
            Some(Foreign { recorded: Recorded::Never, .. }) => {}
        }
        if !self.is_captured()? {
            return Ok(());
        }
        Err(Error::NotInGraph {
            operation: "work on a stream that another library records",
            instead: "record it by `Device::capture`",
        })
    }

    /// Whether the driver records the work of the stream.
    fn is_captured(&self) -> Result<bool> {
        let mut status = sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
        self.call("cuStreamIsCapturing", || {
            // SAFETY: the stream lives as long as `self`; the pointer is to a live status.
            unsafe { sys::cuStreamIsCapturing(self.stream, &raw mut status) }
        })?;
        Ok(status != sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE)
    }

    /// Whether another library records the work of the stream.
    pub(crate) fn is_recorded(&self) -> Result<bool> {
        Ok(self.is_foreign() && self.is_captured()?)
    }

    /// The driver's handle.
    pub(crate) fn raw(&self) -> *mut c_void {
        self.stream.cast()
    }

    /// Whether both name one stream of the driver.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.stream == other.stream
            && self.thread() == other.thread()
            && Arc::ptr_eq(&self.gpu, &other.gpu)
    }

    /// Runs one call of the driver with the context current.
    pub(super) fn call(
        &self,
        name: &'static str,
        call: impl FnOnce() -> sys::CUresult,
    ) -> Result<()> {
        let _bound = self.bind()?;
        check(name, call()).map_err(|cause| self.gpu.failed(cause))
    }

    pub(super) fn bind(&self) -> Result<Bound> {
        if self.is_of_another_thread() {
            return Err(Error::PerThreadStream);
        }
        self.context.bind().map_err(|cause| self.gpu.failed(cause))
    }

    pub(crate) fn synchronize(&self) -> Result<()> {
        // Those whose work is in front of the wait: what comes while it lasts, a later wait is told.
        let comms = std::mem::take(&mut *self.comms());
        // SAFETY: the stream lives as long as `self`.
        let waited =
            self.call("cuStreamSynchronize", || unsafe { sys::cuStreamSynchronize(self.stream) });
        if waited.is_err() {
            for comm in &comms {
                self.depends_on(comm);
            }
        }
        waited?;
        none_failed(&comms)
    }

    fn comms(&self) -> MutexGuard<'_, Vec<Arc<Inbox>>> {
        self.comms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that an operation of a group is on the stream: a wait for the stream reports a failure of the group.
    pub(super) fn depends_on(&self, comm: &Arc<Inbox>) {
        let mut comms = self.comms();
        if comms.iter().all(|known| !Arc::ptr_eq(known, comm)) {
            comms.push(Arc::clone(comm));
        }
    }

    /// Marks the end of the work so far, without a time.
    pub(super) fn mark(&self) -> Result<Mark> {
        self.record_with(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING)
    }

    pub(crate) fn allocate(&self, bytes: usize) -> Result<u64> {
        self.require_usable()?;
        let _bound = self.bind()?;
        let mut address = 0;
        let (name, answer) = if self.gpu.memory_pools {
            // SAFETY: the context is current; the pointer is to a live address.
            let answer = unsafe { sys::cuMemAllocAsync(&raw mut address, bytes, self.stream) };
            ("cuMemAllocAsync", answer)
        } else {
            // SAFETY: as above.
            ("cuMemAlloc", unsafe { sys::cuMemAlloc_v2(&raw mut address, bytes) })
        };
        if answer == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY {
            return Err(Error::OutOfMemory { device: self.gpu.label(), required: bytes as u64 });
        }
        check(name, answer).map_err(|cause| self.gpu.failed(cause))?;
        Ok(address)
    }

    /// The next operation reports errors, since it sees the same state of the device. In another thread than the
    /// stream's, all work on the memory is over.
    pub(crate) fn free(&self, address: u64) {
        let Ok(_bound) = self.context.bind() else { return };
        let _ = if self.gpu.memory_pools {
            // SAFETY: the address came from `cuMemAllocAsync`, and the buffer that owned it is gone.
            unsafe { sys::cuMemFreeAsync(address, self.stream) }
        } else {
            // SAFETY: the address came from `cuMemAlloc`; the call waits for all work of the device.
            unsafe { sys::cuMemFree_v2(address) }
        };
    }

    pub(crate) fn fill<T: Element>(&self, address: u64, value: T, count: usize) -> Result<()> {
        let (bits, stream) = (value.to_bits(), self.stream);
        let [b0, b1, b2, b3, ..] = bits.to_le_bytes();
        match T::BYTES {
            1 => self.call("cuMemsetD8Async", || {
                // SAFETY: the caller has `count` elements of one byte at the address.
                unsafe { sys::cuMemsetD8Async(address, b0, count, stream) }
            }),
            2 => self.call("cuMemsetD16Async", || {
                let value = u16::from_le_bytes([b0, b1]);
                // SAFETY: the caller has `count` elements of two bytes at the address.
                unsafe { sys::cuMemsetD16Async(address, value, count, stream) }
            }),
            4 => self.call("cuMemsetD32Async", || {
                let value = u32::from_le_bytes([b0, b1, b2, b3]);
                // SAFETY: the caller has `count` elements of four bytes at the address.
                unsafe { sys::cuMemsetD32Async(address, value, count, stream) }
            }),
            // The driver has no wider fill: a column of the first words, an element apart, and one of each next.
            bytes => (0..bytes / 4).try_for_each(|word| {
                let at = 4 * word as u64;
                let value =
                    u32::try_from(bits >> (8 * at) & 0xFFFF_FFFF).expect("32 bits are left");
                self.call("cuMemsetD2D32Async", || {
                    // SAFETY: the caller has `count` elements of so many bytes at the address.
                    unsafe { sys::cuMemsetD2D32Async(address + at, bytes, value, 1, count, stream) }
                })
            }),
        }
    }

    pub(crate) fn upload<T: Element>(&self, address: u64, values: &[T]) -> Result<()> {
        let bytes = size_of_val(values);
        self.call("cuMemcpyHtoDAsync", || {
            // SAFETY: the caller has as many elements at the address; elements are plain numbers.
            unsafe {
                sys::cuMemcpyHtoDAsync_v2(address, values.as_ptr().cast(), bytes, self.stream)
            }
        })?;
        // The driver stages pageable memory before it returns, but reads pinned memory later.
        self.synchronize()
    }

    pub(crate) fn download<T: Element>(&self, address: u64, count: usize) -> Result<Vec<T>> {
        if T::ANY_BITS {
            let mut values = vec![T::default(); count];
            self.download_into(address, &mut values)?;
            return Ok(values);
        }
        let mut bytes = vec![0u8; count * T::BYTES];
        self.download_into(address, &mut bytes)?;
        let mut values = Vec::with_capacity(count);
        T::decode(&bytes, &mut values);
        Ok(values)
    }

    /// Downloads as many bytes as the elements have, each of which takes any bits.
    pub(crate) fn download_into<T: Element>(&self, address: u64, values: &mut [T]) -> Result<()> {
        let bytes = size_of_val(values);
        self.call("cuMemcpyDtoHAsync", || {
            // SAFETY: the caller has as many bytes at the address; `values` outlives the copy, since the
            // stream is waited for below, and the callers choose types of which every bit pattern is a
            // value.
            unsafe {
                sys::cuMemcpyDtoHAsync_v2(values.as_mut_ptr().cast(), address, bytes, self.stream)
            }
        })?;
        self.synchronize()
    }

    /// Downloads everything from the first to the last element, and picks.
    pub(crate) fn gather<T: Element>(
        &self,
        address: u64,
        span: usize,
        offsets: impl Iterator<Item = usize>,
    ) -> Result<Vec<T>> {
        let values = self.download::<T>(address, span)?;
        Ok(offsets.map(|offset| values[offset]).collect())
    }

    pub(crate) fn copy(&self, from: u64, to: u64, bytes: usize) -> Result<()> {
        self.call("cuMemcpyDtoDAsync", || {
            // SAFETY: the caller has as many bytes at both addresses.
            unsafe { sys::cuMemcpyDtoDAsync_v2(to, from, bytes, self.stream) }
        })
    }

    /// Copies from one GPU to another.
    pub(crate) fn copy_between(
        &self,
        (source, from): (&Self, u64),
        (target, to): (&Self, u64),
        bytes: usize,
    ) -> Result<()> {
        let (source, target) = (source.context.0, target.context.0);
        self.call("cuMemcpyPeerAsync", || {
            // SAFETY: the caller has as many bytes at both addresses, each in the context of its queue.
            unsafe { sys::cuMemcpyPeerAsync(to, target, from, source, bytes, self.stream) }
        })
    }

    pub(crate) fn record(&self) -> Result<Mark> {
        self.record_with(sys::CUevent_flags::CU_EVENT_DEFAULT)
    }

    pub(crate) fn wait(&self, mark: &Mark) -> Result<()> {
        self.require_usable()?;
        for comm in &mark.comms {
            self.depends_on(comm);
        }
        self.call("cuStreamWaitEvent", || {
            // SAFETY: stream and event are alive; the driver defines no flag for ordinary events.
            unsafe { sys::cuStreamWaitEvent(self.stream, mark.event, 0) }
        })
    }

    pub(crate) fn wait_for(&self, other: &Self) -> Result<()> {
        // The driver keeps what a wait needs of an event that is destroyed before the wait is over.
        self.wait(&other.mark()?)
    }

    fn record_with(&self, flags: sys::CUevent_flags) -> Result<Mark> {
        self.require_usable()?;
        let mut event = null_mut();
        self.call("cuEventCreate", || {
            // SAFETY: the context is current; the pointer is to a live handle.
            unsafe { sys::cuEventCreate(&raw mut event, flags as u32) }
        })?;
        let mark = Mark {
            gpu: Arc::clone(&self.gpu),
            context: self.context,
            event,
            comms: self.comms().clone(),
        };
        self.call("cuEventRecord", || {
            // SAFETY: event and stream are alive and of one context.
            unsafe { sys::cuEventRecord(mark.event, self.stream) }
        })?;
        Ok(mark)
    }

    /// The driver computes a map without touching the device.
    pub(crate) fn encode(&self, encoding: &Encoding) -> Result<TensorMap, Box<str>> {
        let bound = self.context.bind();
        bound
            .and_then(|_bound| tensor_map::encode(encoding))
            .map_err(|cause| cause.to_string().into())
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        if self.foreign.is_some() {
            return;
        }
        let _ = self.call("cuStreamDestroy", || {
            // SAFETY: nothing else has the handle; the driver finishes the stream's work first.
            unsafe { sys::cuStreamDestroy_v2(self.stream) }
        });
    }
}

impl Mark {
    fn bind(&self) -> Result<Bound> {
        self.context.bind().map_err(|cause| self.gpu.failed(cause))
    }

    pub(crate) fn synchronize(&self) -> Result<()> {
        self.wait_for_end()?;
        none_failed(&self.comms)
    }

    /// Waits until the earlier work is over, even if its group has failed.
    pub(crate) fn wait_for_end(&self) -> Result<()> {
        let _bound = self.bind()?;
        // SAFETY: the event lives as long as `self`.
        let answer = unsafe { sys::cuEventSynchronize(self.event) };
        check("cuEventSynchronize", answer).map_err(|cause| self.gpu.failed(cause))
    }

    pub(crate) fn is_done(&self) -> Result<bool> {
        let is_over = self.is_over()?;
        if is_over {
            none_failed(&self.comms)?;
        }
        Ok(is_over)
    }

    /// Whether the earlier work is over, even if its group has failed.
    pub(crate) fn is_over(&self) -> Result<bool> {
        let _bound = self.bind()?;
        // SAFETY: the event lives as long as `self`.
        let answer = unsafe { sys::cuEventQuery(self.event) };
        if answer == sys::CUresult::CUDA_ERROR_NOT_READY {
            return Ok(false);
        }
        check("cuEventQuery", answer).map_err(|cause| self.gpu.failed(cause))?;
        Ok(true)
    }

    pub(crate) fn elapsed_ms(&self, later: &Self) -> Result<f32> {
        type Elapsed = unsafe extern "C" fn(*mut f32, sys::CUevent, sys::CUevent) -> sys::CUresult;
        self.synchronize()?;
        later.synchronize()?;
        // The bindings have this function or its successor, according to the toolkit they were built
        // for; the driver has had this one since the first version.
        // SAFETY: the driver documents this signature for the name.
        let elapsed = unsafe { library::function::<Elapsed>(c"cuEventElapsedTime") };
        let Some(elapsed) = elapsed else {
            return Err(Error::DriverMissing { library: "libcuda's cuEventElapsedTime" });
        };
        let mut milliseconds = 0.0;
        // SAFETY: both events are alive and recorded; the pointer is to a live number.
        let answer = unsafe { elapsed(&raw mut milliseconds, self.event, later.event) };
        check("cuEventElapsedTime", answer).map_err(|cause| self.gpu.failed(cause))?;
        Ok(milliseconds)
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        let Ok(_bound) = self.bind() else { return };
        // SAFETY: nothing else has the handle; waits that were enqueued keep what they need.
        let _ = unsafe { sys::cuEventDestroy_v2(self.event) };
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stream {:p} of {}", self.stream, self.gpu.label())
    }
}

impl fmt::Debug for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "event {:p} of {}", self.event, self.gpu.label())
    }
}
