//! One interface to the two back ends: the operations of a stream.
//!
//! The enums have no variants when neither feature is on; nothing can then make a device, and the
//! matches below are empty.
#![cfg_attr(
    any(
        all(feature = "cuda", not(feature = "emulator")),
        all(feature = "emulator", not(feature = "cuda"))
    ),
    expect(clippy::unnecessary_wraps, reason = "the other back end may fail, or has no answer")
)]
#![cfg_attr(
    not(any(feature = "cuda", feature = "emulator")),
    expect(
        unused_variables,
        dead_code,
        clippy::needless_pass_by_value,
        reason = "nothing runs without a back end"
    )
)]

#[cfg(any(feature = "cuda", feature = "emulator"))]
use crate::Error;
#[cfg(feature = "cuda")]
use crate::cuda;
#[cfg(feature = "emulator")]
use crate::emulator;
#[cfg(feature = "cuda")]
use crate::pinned::HostMemory;
use crate::{
    Device, Element, Grid, Image, Result, Variant,
    buffer::Owner,
    launch::Blocks,
    pinned,
    tensor_map::{Encoding, TensorMap},
};
use std::{ffi::c_void, sync::Arc};

/// Runs the same expression on whichever back end a value belongs to.
macro_rules! each {
    ($value:expr, $name:ident => $run:expr) => {
        match *$value {
            #[cfg(feature = "cuda")]
            Self::Cuda(ref $name) => $run,
            #[cfg(feature = "emulator")]
            Self::Emulator(ref $name) => $run,
        }
    };
}

/// Everything that a launch needs except the stream; the arguments have been checked.
pub(crate) struct Order<'a> {
    pub(crate) image: &'static Image,
    pub(crate) variant: &'static Variant,
    pub(crate) grid: Grid,
    pub(crate) blocks: Blocks,
    /// One value for each entry parameter except the tensor maps, in order, zero-extended to 64 bits.
    pub(crate) values: &'a mut [u64],
    /// The entry parameters after those.
    pub(crate) maps: &'a mut [TensorMap],
}

#[cfg(any(feature = "cuda", feature = "emulator"))]
impl Order<'_> {
    /// Refuses a cooperative launch of more blocks than the device holds at once.
    pub(crate) fn require_room(
        &self,
        grid: [u32; 3],
        resident: u32,
        device: impl FnOnce() -> String,
    ) -> Result<()> {
        let required = grid.into_iter().map(u64::from).fold(1, u64::saturating_mul);
        if self.blocks == Blocks::Independent || required <= u64::from(resident) {
            return Ok(());
        }
        let kernel = self.image.kernel;
        Err(Error::TooManyBlocks { kernel, device: device(), required, actual: resident })
    }
}

/// An ordered list of work on one device.
#[derive(Debug)]
pub(crate) enum Queue {
    #[cfg(feature = "cuda")]
    Cuda(cuda::Queue),
    #[cfg(feature = "emulator")]
    Emulator(emulator::Queue),
}

/// Zeros that a kernel writes to, and the host reads when the kernel has ended, even if it has failed.
pub(crate) enum Readable {
    /// The device reaches this memory of the host by its own address.
    #[cfg(feature = "cuda")]
    Cuda(HostMemory),
    #[cfg(feature = "emulator")]
    Emulator(emulator::Zeros),
}

/// A point in the work of a queue.
#[derive(Debug)]
pub(crate) enum Mark {
    #[cfg(feature = "cuda")]
    Cuda(cuda::Mark),
    #[cfg(feature = "emulator")]
    Emulator(emulator::Mark),
}

/// Recorded work, from a capture.
#[derive(Debug)]
pub(crate) enum Captured {
    #[cfg(feature = "cuda")]
    Cuda(cuda::Captured),
    #[cfg(feature = "emulator")]
    Emulator(emulator::Graph),
}

/// Recorded work that can be launched.
#[derive(Debug)]
pub(crate) enum Graph {
    #[cfg(feature = "cuda")]
    Cuda(cuda::Graph),
    #[cfg(feature = "emulator")]
    Emulator(emulator::Graph),
}

impl Captured {
    pub(crate) fn instantiate(self) -> Result<Graph> {
        match self {
            #[cfg(feature = "cuda")]
            Self::Cuda(captured) => captured.instantiate().map(Graph::Cuda),
            #[cfg(feature = "emulator")]
            Self::Emulator(graph) => Ok(Graph::Emulator(graph)),
        }
    }
}

impl Graph {
    /// Takes over what a capture of the same device has recorded.
    pub(crate) fn replace(&mut self, captured: Captured) -> Result<()> {
        match (self, captured) {
            #[cfg(feature = "cuda")]
            (Self::Cuda(graph), Captured::Cuda(captured)) => graph.replace(&captured),
            #[cfg(feature = "emulator")]
            (Self::Emulator(graph), Captured::Emulator(captured)) => {
                *graph = captured;
                Ok(())
            }
            #[cfg(all(feature = "cuda", feature = "emulator"))]
            (Self::Cuda(_), Captured::Emulator(_)) | (Self::Emulator(_), Captured::Cuda(_)) => {
                unreachable!("a graph is recorded on its own device")
            }
            #[cfg(not(any(feature = "cuda", feature = "emulator")))]
            (graph, _) => match *graph {},
        }
    }
}

impl Queue {
    /// Whether work on both is ordered; on the emulator all work is.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            #[cfg(feature = "cuda")]
            (Self::Cuda(queue), Self::Cuda(other)) => queue.is_same(other),
            #[cfg(feature = "emulator")]
            (Self::Emulator(queue), Self::Emulator(other)) => queue.is_same(other),
            #[cfg(all(feature = "cuda", feature = "emulator"))]
            (Self::Cuda(_), Self::Emulator(_)) | (Self::Emulator(_), Self::Cuda(_)) => false,
            #[cfg(not(any(feature = "cuda", feature = "emulator")))]
            _ => match *self {},
        }
    }

    /// The driver's handle of a stream.
    pub(crate) fn raw(&self) -> Option<*mut c_void> {
        match *self {
            #[cfg(feature = "cuda")]
            Self::Cuda(ref queue) => Some(queue.raw()),
            #[cfg(feature = "emulator")]
            Self::Emulator(_) => None,
        }
    }

    /// Refuses a stream that is another one in this thread, and one that another library records into a graph, unless
    /// the caller has guaranteed that the memory stays.
    pub(crate) fn require_usable(&self) -> Result<()> {
        match *self {
            #[cfg(feature = "cuda")]
            Self::Cuda(ref queue) => queue.require_usable(),
            #[cfg(feature = "emulator")]
            Self::Emulator(_) => Ok(()),
        }
    }

    /// Waits for all work of the device if this thread cannot order anything after the work of the queue; false if it
    /// can.
    pub(crate) fn wait_elsewhere(&self) -> Result<bool> {
        match *self {
            #[cfg(feature = "cuda")]
            Self::Cuda(ref queue) if queue.is_of_another_thread() => {
                queue.synchronize_device().map(|()| true)
            }
            #[cfg(feature = "cuda")]
            Self::Cuda(_) => Ok(false),
            #[cfg(feature = "emulator")]
            Self::Emulator(_) => Ok(false),
        }
    }

    /// Gives another library its memory back, after all work of the queue so far.
    pub(crate) fn give_back(&self, owner: Owner) {
        match *self {
            #[cfg(feature = "cuda")]
            Self::Cuda(ref queue) => queue.give_back(owner),
            // The emulator has finished whatever was launched before.
            #[cfg(feature = "emulator")]
            Self::Emulator(_) => drop(owner),
        }
    }

    /// Records what is put on the queue from now on, instead of running it.
    pub(crate) fn begin_capture(&self) -> Result<()> {
        each!(self, queue => queue.begin_capture())
    }

    /// What was recorded.
    pub(crate) fn end_capture(&self) -> Result<Captured> {
        match *self {
            #[cfg(feature = "cuda")]
            Self::Cuda(ref queue) => queue.end_capture().map(Captured::Cuda),
            #[cfg(feature = "emulator")]
            Self::Emulator(ref queue) => Ok(Captured::Emulator(queue.end_capture())),
        }
    }

    /// Starts recorded work of the same device.
    pub(crate) fn launch_graph(&self, graph: &Graph) -> Result<()> {
        match (self, graph) {
            #[cfg(feature = "cuda")]
            (Self::Cuda(queue), Graph::Cuda(graph)) => queue.launch_graph(graph),
            #[cfg(feature = "emulator")]
            (Self::Emulator(queue), Graph::Emulator(graph)) => queue.launch_graph(graph),
            #[cfg(all(feature = "cuda", feature = "emulator"))]
            (Self::Cuda(_), Graph::Emulator(_)) | (Self::Emulator(_), Graph::Cuda(_)) => {
                unreachable!("Graph::launch refuses streams of another device")
            }
            #[cfg(not(any(feature = "cuda", feature = "emulator")))]
            _ => match *self {},
        }
    }

    /// Copies pinned memory to the device; the memory is kept, and kept from the host, until the copy is done.
    pub(crate) fn upload_pinned(&self, address: u64, from: &Arc<pinned::Memory>) -> Result<()> {
        each!(self, queue => queue.upload_pinned(address, from))
    }

    /// Copies as many bytes as pinned memory has from the device.
    pub(crate) fn download_pinned(&self, address: u64, to: &Arc<pinned::Memory>) -> Result<()> {
        each!(self, queue => queue.download_pinned(address, to))
    }

    /// Waits until all work of the queue is done.
    pub(crate) fn synchronize(&self) -> Result<()> {
        each!(self, queue => queue.synchronize())
    }

    /// The address of `bytes` bytes of unspecified content; `bytes` is not zero.
    pub(crate) fn allocate(&self, bytes: usize) -> Result<u64> {
        each!(self, queue => queue.allocate(bytes))
    }

    /// Frees memory once the queue's work so far is done.
    pub(crate) fn free(&self, address: u64) {
        each!(self, queue => queue.free(address));
    }

    /// Writes `value` to each of `count` elements.
    pub(crate) fn fill<T: Element>(&self, address: u64, value: T, count: usize) -> Result<()> {
        each!(self, queue => queue.fill(address, value, count))
    }

    /// Copies host elements to the device; they may be changed once this returns.
    pub(crate) fn upload<T: Element>(&self, address: u64, values: &[T]) -> Result<()> {
        each!(self, queue => queue.upload(address, values))
    }

    /// Copies `count` elements to the host, after all work of the queue.
    pub(crate) fn download<T: Element>(&self, address: u64, count: usize) -> Result<Vec<T>> {
        each!(self, queue => queue.download(address, count))
    }

    /// Copies as many elements as the slice has, which take any bits, to the host, after all work of the queue.
    pub(crate) fn download_into<T: Element>(&self, address: u64, values: &mut [T]) -> Result<()> {
        each!(self, queue => queue.download_into(address, values))
    }

    /// Copies elements at offsets from the first one to the host, after all work of the queue; all of
    /// them lie within the first `span` elements.
    pub(crate) fn gather<T: Element>(
        &self,
        address: u64,
        span: usize,
        offsets: impl Iterator<Item = usize>,
    ) -> Result<Vec<T>> {
        each!(self, queue => queue.gather(address, span, offsets))
    }

    /// Copies bytes within the device; the ranges do not overlap.
    pub(crate) fn copy(&self, from: u64, to: u64, bytes: usize) -> Result<()> {
        each!(self, queue => queue.copy(from, to, bytes))
    }

    /// Copies bytes from one device to another, each given by a queue of it and an address; this queue is of either.
    pub(crate) fn copy_between(
        &self,
        from: (&Self, u64),
        to: (&Self, u64),
        bytes: usize,
    ) -> Result<()> {
        match (self, from, to) {
            #[cfg(feature = "cuda")]
            (Self::Cuda(queue), (Self::Cuda(source), from), (Self::Cuda(target), to)) => {
                queue.copy_between((source, from), (target, to), bytes)
            }
            #[cfg(feature = "emulator")]
            (Self::Emulator(_), (Self::Emulator(source), from), (Self::Emulator(target), to)) => {
                source.copy_to(from, (target, to), bytes)
            }
            #[cfg(all(feature = "cuda", feature = "emulator"))]
            (Self::Cuda(_) | Self::Emulator(_), _, _) => {
                unreachable!("Stream::copy refuses tensors of both kinds")
            }
            #[cfg(not(any(feature = "cuda", feature = "emulator")))]
            _ => match *self {},
        }
    }

    /// Marks the end of the work so far, with a time that can be read.
    pub(crate) fn record(&self) -> Result<Mark> {
        match *self {
            #[cfg(feature = "cuda")]
            Self::Cuda(ref queue) => Ok(Mark::Cuda(queue.record()?)),
            #[cfg(feature = "emulator")]
            Self::Emulator(ref queue) => Ok(Mark::Emulator(queue.record())),
        }
    }

    /// Makes later work of this queue wait for the mark, of a device of the same kind.
    pub(crate) fn wait(&self, mark: &Mark) -> Result<()> {
        match (self, mark) {
            #[cfg(feature = "cuda")]
            (Self::Cuda(queue), Mark::Cuda(mark)) => queue.wait(mark),
            // The emulator has finished whatever was launched before.
            #[cfg(feature = "emulator")]
            (Self::Emulator(_), Mark::Emulator(_)) => Ok(()),
            #[cfg(all(feature = "cuda", feature = "emulator"))]
            (Self::Cuda(_), Mark::Emulator(_)) | (Self::Emulator(_), Mark::Cuda(_)) => {
                unreachable!("Stream::wait refuses events of both kinds")
            }
            #[cfg(not(any(feature = "cuda", feature = "emulator")))]
            _ => match *self {},
        }
    }

    /// Makes later work of this queue wait for the work so far of `other`, a queue of the same device.
    pub(crate) fn wait_for(&self, other: &Self) -> Result<()> {
        match (self, other) {
            #[cfg(feature = "cuda")]
            (Self::Cuda(queue), Self::Cuda(other)) => queue.wait_for(other),
            #[cfg(feature = "emulator")]
            (Self::Emulator(_), Self::Emulator(_)) => Ok(()),
            #[cfg(all(feature = "cuda", feature = "emulator"))]
            (Self::Cuda(_), Self::Emulator(_)) | (Self::Emulator(_), Self::Cuda(_)) => {
                unreachable!("launches and copies refuse tensors of another device")
            }
            #[cfg(not(any(feature = "cuda", feature = "emulator")))]
            _ => match *self {},
        }
    }

    /// The tensor map of an encoding whose rules have been checked; the device's message if it refuses it anyway.
    pub(crate) fn encode(&self, encoding: &Encoding) -> Result<TensorMap, Box<str>> {
        each!(self, queue => queue.encode(encoding))
    }

    /// Whether another library records the work of the stream.
    pub(crate) fn is_recorded(&self) -> Result<bool> {
        match *self {
            #[cfg(feature = "cuda")]
            Self::Cuda(ref queue) => queue.is_recorded(),
            #[cfg(feature = "emulator")]
            Self::Emulator(_) => Ok(false),
        }
    }

    /// Memory for what a kernel says.
    #[cfg_attr(
        not(feature = "cuda"),
        expect(unused_variables, reason = "the emulator has one memory")
    )]
    pub(crate) fn readable(&self, device: &Device, bytes: usize) -> Result<Readable> {
        match *self {
            #[cfg(feature = "cuda")]
            Self::Cuda(_) => device.host_memory(bytes).map(Readable::Cuda),
            #[cfg(feature = "emulator")]
            Self::Emulator(ref queue) => queue.zeros(bytes).map(Readable::Emulator),
        }
    }

    /// Starts a kernel.
    pub(crate) fn launch(&self, order: &mut Order<'_>) -> Result<()> {
        each!(self, queue => queue.launch(order))
    }
}

impl Readable {
    /// The address for kernels.
    pub(crate) fn address(&self) -> u64 {
        match *self {
            // Pinned memory has one address for the host and all devices (CUDA Driver API, "Unified Addressing").
            #[cfg(feature = "cuda")]
            Self::Cuda(ref memory) => memory.start().expose_provenance() as u64,
            #[cfg(feature = "emulator")]
            Self::Emulator(ref zeros) => zeros.address(),
        }
    }

    /// What is there, once no kernel writes any more.
    pub(crate) fn bytes(&self) -> Result<Vec<u8>> {
        match *self {
            #[cfg(feature = "cuda")]
            Self::Cuda(ref memory) => Ok(memory.to_vec()),
            #[cfg(feature = "emulator")]
            Self::Emulator(ref zeros) => zeros.bytes(),
        }
    }
}

impl Mark {
    /// Waits until the work before the mark is done.
    pub(crate) fn synchronize(&self) -> Result<()> {
        each!(self, mark => mark.synchronize())
    }

    /// Like [`Self::synchronize`], even if the work's group has failed.
    pub(crate) fn wait_for_end(&self) -> Result<()> {
        match *self {
            #[cfg(feature = "cuda")]
            Self::Cuda(ref mark) => mark.wait_for_end(),
            #[cfg(feature = "emulator")]
            Self::Emulator(ref mark) => mark.synchronize(),
        }
    }

    /// Like [`Self::is_done`], even if the work's group has failed.
    pub(crate) fn is_over(&self) -> Result<bool> {
        match *self {
            #[cfg(feature = "cuda")]
            Self::Cuda(ref mark) => mark.is_over(),
            #[cfg(feature = "emulator")]
            Self::Emulator(ref mark) => mark.is_done(),
        }
    }

    /// Whether the work before the mark is done.
    pub(crate) fn is_done(&self) -> Result<bool> {
        each!(self, mark => mark.is_done())
    }

    /// Milliseconds from this mark to `later`, which is of the same device.
    pub(crate) fn elapsed_ms(&self, later: &Self) -> Result<f32> {
        match (self, later) {
            #[cfg(feature = "cuda")]
            (Self::Cuda(mark), Self::Cuda(later)) => mark.elapsed_ms(later),
            #[cfg(feature = "emulator")]
            (Self::Emulator(mark), Self::Emulator(later)) => Ok(mark.elapsed_ms(later)),
            #[cfg(all(feature = "cuda", feature = "emulator"))]
            (Self::Cuda(_), Self::Emulator(_)) | (Self::Emulator(_), Self::Cuda(_)) => {
                unreachable!("Event::elapsed_ms refuses events of two devices")
            }
            #[cfg(not(any(feature = "cuda", feature = "emulator")))]
            _ => match *self {},
        }
    }
}
