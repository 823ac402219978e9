//! The two back ends behind one face: what a stream can be asked to do.
//!
//! The enums have no variants when neither feature is on; nothing can then make a device, and the
//! matches below are empty.
#![cfg_attr(
    all(feature = "emulator", not(feature = "cuda")),
    expect(clippy::unnecessary_wraps, reason = "on a GPU these may fail")
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

#[cfg(feature = "cuda")]
use crate::cuda;
#[cfg(feature = "emulator")]
use crate::emulator;
use crate::{
    Element, Grid, Image, Result, Variant,
    tensor_map::{Encoding, TensorMap},
};

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

/// Everything that a launch needs besides the stream; the arguments have been checked.
pub(crate) struct Order<'a> {
    pub(crate) image: &'static Image,
    pub(crate) variant: &'static Variant,
    pub(crate) grid: Grid,
    /// One value for each entry parameter but the tensor maps, in order, zero-extended to 64 bits.
    pub(crate) values: &'a mut [u64],
    /// The entry parameters behind those.
    pub(crate) maps: &'a mut [TensorMap],
}

/// An ordered list of work on one device.
#[derive(Debug)]
pub(crate) enum Queue {
    #[cfg(feature = "cuda")]
    Cuda(cuda::Queue),
    #[cfg(feature = "emulator")]
    Emulator(emulator::Queue),
}

/// A point in the work of a queue.
#[derive(Debug)]
pub(crate) enum Mark {
    #[cfg(feature = "cuda")]
    Cuda(cuda::Mark),
    #[cfg(feature = "emulator")]
    Emulator(emulator::Mark),
}

impl Queue {
    /// Waits until all work of the queue is done.
    pub(crate) fn synchronize(&self) -> Result<()> {
        each!(self, queue => queue.synchronize())
    }

    /// The address of `bytes` bytes of unspecified content; `bytes` is not zero.
    pub(crate) fn allocate(&self, bytes: usize) -> Result<u64> {
        each!(self, queue => queue.allocate(bytes))
    }

    /// Gives memory back once the queue's work so far is done.
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

    /// Marks the end of the work so far, with a time that can be read.
    pub(crate) fn record(&self) -> Result<Mark> {
        match *self {
            #[cfg(feature = "cuda")]
            Self::Cuda(ref queue) => Ok(Mark::Cuda(queue.record()?)),
            #[cfg(feature = "emulator")]
            Self::Emulator(ref queue) => Ok(Mark::Emulator(queue.record())),
        }
    }

    /// Lets later work of this queue wait for the mark.
    pub(crate) fn wait(&self, mark: &Mark) -> Result<()> {
        match (self, mark) {
            #[cfg(feature = "cuda")]
            (Self::Cuda(queue), Mark::Cuda(mark)) => queue.wait(mark),
            // The emulator has finished whatever was launched before.
            #[cfg(feature = "emulator")]
            (Self::Emulator(_), Mark::Emulator(_)) => Ok(()),
            #[cfg(all(feature = "cuda", feature = "emulator"))]
            (Self::Cuda(_), Mark::Emulator(_)) | (Self::Emulator(_), Mark::Cuda(_)) => {
                unreachable!("Stream::wait refuses events of another device")
            }
            #[cfg(not(any(feature = "cuda", feature = "emulator")))]
            _ => match *self {},
        }
    }

    /// Lets later work of this queue wait for the work so far of `other`, a queue of the same device.
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

    /// The tensor map of an encoding whose rules have been checked; what the device says if it refuses all the same.
    pub(crate) fn encode(&self, encoding: &Encoding) -> Result<TensorMap, Box<str>> {
        each!(self, queue => queue.encode(encoding))
    }

    /// Starts a kernel.
    pub(crate) fn launch(&self, order: &mut Order<'_>) -> Result<()> {
        each!(self, queue => queue.launch(order))
    }
}

impl Mark {
    /// Waits until the work before the mark is done.
    pub(crate) fn synchronize(&self) -> Result<()> {
        each!(self, mark => mark.synchronize())
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
