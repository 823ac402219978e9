//! Graphs: work that is recorded once and launched many times, each time at the cost of one launch.
//!
//! A graph holds the memory that its work uses, and is ordered like work on streams: a launch waits for what its
//! tensors wait for, and later work waits for it.

use crate::{
    Device, Error, Result, Stream,
    back_end::{self, Captured},
    buffer::{Access, Buffer},
    pinned,
};
#[cfg(feature = "cuda")]
use crate::{comm::Signature, cuda::nccl};
use std::{
    cell::Cell,
    fmt,
    sync::{Arc, Mutex, PoisonError},
    thread::{self, ThreadId},
};

/// Recorded work of one device: kernels, fills, copies on the device and to and from pinned memory.
///
/// [`Device::capture`] makes it. The tensors that it uses may be dropped; their memory lives as long as the graph.
///
/// ```
/// # #[cfg(feature = "emulator")]
/// # fn main() -> kernel_runtime::Result<()> {
/// use kernel_runtime::{Device, Target};
///
/// let device = Device::emulator(Target::Sm80)?;
/// let stream = device.stream()?;
/// let a = stream.upload(&[1.0f32, 2.0], [2])?;
/// let mut b = stream.zeros([2])?;
/// let graph = device.capture(|stream| stream.copy(&a, &mut b))?;
/// assert_eq!(b.to_vec(&stream)?, [0.0, 0.0]); // nothing has run
/// graph.launch(&stream)?;
/// assert_eq!(b.to_vec(&stream)?, [1.0, 2.0]);
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "emulator"))]
/// # fn main() {}
/// ```
pub struct Graph {
    device: Device,
    work: back_end::Graph,
    uses: Uses,
}

thread_local! {
    /// How many kernels this thread has launched on streams that record nothing.
    static OUTSIDE: Cell<u64> = const { Cell::new(0) };
}

/// Counts a launch on a stream that records nothing.
pub(crate) fn launched_outside() {
    OUTSIDE.set(OUTSIDE.get().wrapping_add(1));
}

/// The memory that recorded work accesses.
#[derive(Default)]
struct Uses {
    /// Whether anything was recorded, with memory or without.
    any: bool,
    buffers: Vec<(Arc<Buffer>, Access)>,
    pinned: Vec<(Arc<pinned::Memory>, Access)>,
    /// Memberships of groups whose operations are part of it: NCCL keeps them until the graph is gone.
    #[cfg(feature = "cuda")]
    comms: Vec<nccl::Recorded>,
}

/// The list in which the stream of a capture notes the memory that its work accesses; `None` once the capture is over.
pub(crate) struct Recording {
    thread: ThreadId,
    uses: Mutex<Option<Uses>>,
}

impl Recording {
    pub(crate) fn new() -> Self {
        Self { thread: thread::current().id(), uses: Mutex::new(Some(Uses::default())) }
    }

    /// Notes a use of a buffer.
    pub(crate) fn add(&self, buffer: &Arc<Buffer>, access: Access) -> Result<()> {
        if buffer.is_borrowed() {
            return Err(Error::NotInGraph {
                operation: "memory that another library lends",
                instead: "make a tensor that owns it by `DeviceTensor::from_raw`, or copy it to one of Kiln's",
            });
        }
        buffer.hold_elsewhere();
        self.note(|uses| note(&mut uses.buffers, buffer, access))
    }

    /// Notes a use of pinned memory.
    pub(crate) fn add_pinned(&self, memory: &Arc<pinned::Memory>, access: Access) -> Result<()> {
        self.note(|uses| note(&mut uses.pinned, memory, access))
    }

    /// Notes an operation of a group.
    #[cfg(feature = "cuda")]
    pub(crate) fn add_comm(&self, rank: &Arc<nccl::Rank>, signature: Signature) -> Result<()> {
        self.note(|uses| {
            if let Some(known) = uses.comms.iter_mut().find(|known| Arc::ptr_eq(&known.rank, rank))
            {
                known.signatures.push(signature);
            } else {
                let (rank, signatures) = (Arc::clone(rank), vec![signature]);
                uses.comms.push(nccl::Recorded { rank, signatures });
            }
        })
    }

    /// Refuses work that comes after the end of the capture.
    pub(crate) fn require_open(&self) -> Result<()> {
        self.note(|_| {})
    }

    fn note(&self, note: impl FnOnce(&mut Uses)) -> Result<()> {
        if thread::current().id() != self.thread {
            // The capture could end between this note and the work.
            return Err(Error::NotInGraph {
                operation: "work of another thread",
                instead: "put it on the stream in the thread that captures",
            });
        }
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(uses) = uses.as_mut() else {
            return Err(Error::NotInGraph {
                operation: "work after the capture has ended",
                instead: "keep the stream of a capture inside of it",
            });
        };
        uses.any = true;
        note(uses);
        Ok(())
    }

    fn close(&self) -> Uses {
        let mut uses =
            self.uses.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
        // A launch locks all of them: in one order, so that two launches never wait for each other.
        uses.pinned.sort_by_key(|(memory, _)| Arc::as_ptr(memory).addr());
        uses
    }
}

/// One entry for each piece of memory: a write includes the reads.
fn note<M>(list: &mut Vec<(Arc<M>, Access)>, memory: &Arc<M>, access: Access) {
    match list.iter_mut().find(|(known, _)| Arc::ptr_eq(known, memory)) {
        Some((_, known)) if access == Access::Write => *known = Access::Write,
        Some(_) => {}
        None => list.push((Arc::clone(memory), access)),
    }
}

impl Device {
    /// Records what `work` puts on the stream that it gets, which exists only for the capture; nothing runs.
    ///
    /// Kernels, [`Stream::fill`], [`Stream::copy`], [`Stream::upload_async`] and [`Stream::download_async`] can be
    /// recorded. Work on other streams goes on as always, and is not recorded. Recording a kernel loads it, unless [`Launch::load`](crate::Launch::load) has done so before. Scalars,
    /// addresses and tensor maps keep the values of the recording until [`Graph::update`].
    ///
    /// # Errors
    /// Those of `work`; [`Error::NotInGraph`] for allocations, blocking copies, waits, events, work of another thread,
    /// memory that another library only lends, and if `work` has launched kernels on other streams alone; [`Error::Driver`].
    pub fn capture(&self, work: impl FnOnce(&Stream) -> Result<()>) -> Result<Graph> {
        let (work, uses) = self.record(work)?;
        Ok(Graph { device: self.clone(), work: work.instantiate()?, uses })
    }

    fn record(&self, work: impl FnOnce(&Stream) -> Result<()>) -> Result<(Captured, Uses)> {
        let stream = self.stream_with(Some(Recording::new()))?;
        stream.queue().begin_capture()?;
        let outside = OUTSIDE.get();
        let result = work(&stream);
        let uses = stream.recording().map(Recording::close).unwrap_or_default();
        // The driver's capture is ended in any case; what `work` says comes first.
        let recorded = stream.queue().end_capture();
        result?;
        let recorded = recorded?;
        if !uses.any && OUTSIDE.get() != outside {
            return Err(Error::NotInGraph {
                operation: "a launch on another stream, which has run,",
                instead: "launch on the stream that the closure gets, on which nothing was recorded",
            });
        }
        Ok((recorded, uses))
    }
}

impl Graph {
    /// The device that the work is for.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Puts all the work on a stream, after the work that its tensors wait for. On the emulator it has run when this
    /// returns.
    ///
    /// A launch runs after earlier launches of the same graph that are in flight. A program that launches graphs and
    /// kernels with the same tensors from several threads has to order them itself.
    ///
    /// # Errors
    /// [`Error::StreamOfAnotherDevice`]; [`Error::NotInGraph`] on the stream of a capture; [`Error::PinnedInUse`] while the host
    /// holds pinned memory that the graph copies; [`Error::Driver`], and `Error::Fault` on the emulator.
    pub fn launch(&self, stream: &Stream) -> Result<()> {
        stream.outside_of_captures("the launch of a graph")?;
        if *stream.device() != self.device {
            return Err(Error::StreamOfAnotherDevice {
                operation: "the launch of a graph",
                required: self.device.label(),
                actual: stream.device().label_beside(&self.device),
            });
        }
        let pinned = self.uses.pinned.iter();
        let copies: Vec<_> =
            pinned.map(|(memory, access)| memory.begin(stream, *access)).collect::<Result<_>>()?;
        for (buffer, access) in &self.uses.buffers {
            buffer.use_on(stream, *access)?;
        }
        #[cfg(feature = "cuda")]
        let watched = nccl::Watch::begin(&self.uses.comms, stream.queue())?;
        let mut launched = stream.queue().launch_graph(&self.work);
        // Also after an error: the work may be on the stream.
        #[cfg(feature = "cuda")]
        {
            launched = launched.and(watched.end());
        }
        for (buffer, _) in &self.uses.buffers {
            launched = launched.and(buffer.used_on(stream));
        }
        copies.into_iter().map(|copy| copy.end(stream)).fold(launched, Result::and)
    }

    /// Replaces the work of the graph by `work`, for later launches. If it is the same work with other arguments, the
    /// driver changes only these; other work makes the graph anew, which takes longer.
    ///
    /// # Errors
    /// As [`Device::capture`]; the graph does not change then.
    pub fn update(&mut self, work: impl FnOnce(&Stream) -> Result<()>) -> Result<()> {
        let (work, uses) = self.device.record(work)?;
        self.work.replace(work)?;
        self.uses = uses;
        Ok(())
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.uses.buffers.len();
        write!(f, "Graph on {} with {count} buffers", self.device.label())
    }
}

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recording")
    }
}
