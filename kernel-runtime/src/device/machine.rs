//! Operations that GPUs and emulators do differently.
//!
//! Without a back end there is no device, and the matches are empty.
#![cfg_attr(
    not(any(feature = "cuda", feature = "emulator")),
    expect(
        unused_variables,
        unreachable_code,
        clippy::needless_pass_by_value,
        reason = "nothing runs without a back end"
    )
)]
#![cfg_attr(
    not(all(feature = "cuda", feature = "emulator")),
    expect(clippy::unnecessary_wraps, reason = "the other back end may fail, or has an answer")
)]

#[cfg(feature = "cuda")]
use std::sync::PoisonError;

use super::Device;
#[cfg(any(feature = "cuda", feature = "emulator"))]
use super::Machine;
#[cfg(any(feature = "cuda", feature = "emulator"))]
use crate::back_end::Queue;
#[cfg(feature = "cuda")]
use crate::cuda;
#[cfg(feature = "emulator")]
use crate::emulator;
use crate::{
    DriverVersion, Error, Image, MemoryUse, Resources, Result, Stream, Variant,
    buffer::Owner,
    foreign::{Found, Recorded},
    graph::Recording,
    pinned::HostMemory,
    profile::Rate,
};
use std::ffi::c_void;

/// What a group of devices keeps of a device.
pub(crate) enum Shared {
    #[cfg(feature = "cuda")]
    Cuda(std::sync::Arc<cuda::Gpu>),
    #[cfg(feature = "emulator")]
    Emulator,
}

impl Device {
    /// A new stream, whose work is recorded if there is a recording.
    pub(crate) fn stream_with(&self, recording: Option<Recording>) -> Result<Stream> {
        let queue = match self.inner.machine {
            #[cfg(feature = "cuda")]
            Machine::Cuda(ref gpu) => Queue::Cuda(cuda::Queue::new(gpu)?),
            #[cfg(feature = "emulator")]
            Machine::Emulator(ref machine) => Queue::Emulator(emulator::Queue::new(machine)),
        };
        Ok(Stream::new(self.clone(), queue, recording))
    }

    /// A stream of another library, which lives as long as `owner`.
    pub(crate) fn foreign_stream(
        &self,
        stream: *mut c_void,
        owner: Owner,
        recorded: Recorded,
    ) -> Result<Stream> {
        match self.inner.machine {
            #[cfg(feature = "cuda")]
            Machine::Cuda(ref gpu) => {
                let queue = cuda::Queue::foreign(gpu, stream, owner, recorded)?;
                Ok(Stream::new(self.clone(), Queue::Cuda(queue), None))
            }
            #[cfg(feature = "emulator")]
            Machine::Emulator(_) => {
                let _ = (stream, owner, recorded);
                Err(Error::ForeignContext { device: self.label() })
            }
        }
    }

    /// What the device knows about an address.
    pub(crate) fn find(&self, address: u64) -> Result<Found> {
        match self.inner.machine {
            #[cfg(feature = "cuda")]
            Machine::Cuda(ref gpu) => gpu.find(address),
            #[cfg(feature = "emulator")]
            Machine::Emulator(ref machine) => Ok(machine.find(address)),
        }
    }

    /// The resources of a kernel; loads it.
    pub(crate) fn resources(
        &self,
        image: &'static Image,
        variant: &'static Variant,
    ) -> Result<Resources> {
        match self.inner.machine {
            #[cfg(feature = "cuda")]
            Machine::Cuda(ref gpu) => gpu.resources(image, variant),
            #[cfg(feature = "emulator")]
            Machine::Emulator(ref machine) => machine.resources(image, variant),
        }
    }

    /// Host memory for copies without waiting.
    pub(crate) fn host_memory(&self, bytes: usize) -> Result<HostMemory> {
        match self.inner.machine {
            #[cfg(feature = "cuda")]
            Machine::Cuda(ref gpu) => HostMemory::pinned(bytes, || gpu.pinned(bytes)),
            #[cfg(feature = "emulator")]
            Machine::Emulator(_) => HostMemory::on_heap(bytes),
        }
    }

    /// How often the clock of its multiprocessors ticks.
    pub(crate) fn clock_rate(&self) -> Rate {
        match self.inner.machine {
            #[cfg(feature = "cuda")]
            Machine::Cuda(ref gpu) => Rate::AtMost(gpu.cycles_per_nanosecond()),
            #[cfg(feature = "emulator")]
            Machine::Emulator(_) => Rate::Instructions,
        }
    }

    /// How much memory the device has, and how much of it is in Kiln's pool.
    ///
    /// # Errors
    /// [`Error::Driver`] when the device has failed.
    pub fn memory_use(&self) -> Result<MemoryUse> {
        match self.inner.machine {
            #[cfg(feature = "cuda")]
            Machine::Cuda(ref gpu) => gpu.memory_use(),
            #[cfg(feature = "emulator")]
            Machine::Emulator(ref machine) => Ok(machine.memory_use()),
        }
    }

    /// Lets the device's pool keep up to `bytes` of memory of freed tensors for later tensors, instead of returning it
    /// to the driver at every wait for a stream. Allocations from kept memory take about as long as a launch, others
    /// much longer. The pool is the device's current one, which other libraries of the process may use too. This does
    /// nothing on the emulator.
    ///
    /// # Errors
    /// [`Error::Driver`] when the device has failed.
    pub fn keep_memory(&self, bytes: u64) -> Result<()> {
        match self.inner.machine {
            #[cfg(feature = "cuda")]
            Machine::Cuda(ref gpu) => gpu.keep_memory(bytes),
            #[cfg(feature = "emulator")]
            Machine::Emulator(_) => {
                let _ = bytes;
                Ok(())
            }
        }
    }

    /// Returns memory that the pool keeps and no tensor uses to the driver, except for `keep_bytes`. This does nothing
    /// on the emulator.
    ///
    /// # Errors
    /// [`Error::Driver`] when the device has failed.
    pub fn trim_memory(&self, keep_bytes: u64) -> Result<()> {
        match self.inner.machine {
            #[cfg(feature = "cuda")]
            Machine::Cuda(ref gpu) => gpu.trim_memory(keep_bytes),
            #[cfg(feature = "emulator")]
            Machine::Emulator(_) => {
                let _ = keep_bytes;
                Ok(())
            }
        }
    }

    /// Lets kernels on this GPU read and write tensors on another one in place: a launch then takes them, and pointers to them, as
    /// arguments. The other direction needs its own call. Kernels that run on both at the same time change an element together by
    /// atomic operations with the scope of the system, `atomic::add_system` and the like.
    ///
    /// # Errors
    /// [`Error::NoPeerAccess`] if the hardware does not connect the two, and with emulated GPUs, each of which has its
    /// own memory; [`Error::Driver`].
    pub fn enable_peer(&self, other: &Self) -> Result<()> {
        if self == other {
            return Ok(());
        }
        #[cfg(feature = "cuda")]
        if let (Some(gpu), Some(peer)) = (self.gpu(), other.gpu())
            && gpu.enable_peer(peer)?
        {
            let mut peers = self.inner.peers.write().unwrap_or_else(PoisonError::into_inner);
            if !peers.contains(&other.inner.id) {
                peers.push(other.inner.id);
            }
            return Ok(());
        }
        let (device, peer) = (self.label(), other.label_beside(self));
        Err(Error::NoPeerAccess { device, peer })
    }

    /// Whether kernels on this device may use memory of another.
    pub(crate) fn reaches(&self, other: &Self) -> bool {
        #[cfg(feature = "cuda")]
        if let (Some(gpu), Some(peer)) = (self.gpu(), other.gpu()) {
            return self == other || gpu.reaches(peer);
        }
        self == other
    }

    /// The GPU's number in the driver's order; `None` on the emulator.
    pub fn ordinal(&self) -> Option<usize> {
        match self.inner.machine {
            #[cfg(feature = "cuda")]
            Machine::Cuda(ref gpu) => Some(gpu.ordinal()),
            #[cfg(feature = "emulator")]
            Machine::Emulator(_) => None,
        }
    }

    /// The kind of the device, with what a group of devices keeps of it.
    pub(crate) fn shared_machine(&self) -> Shared {
        match self.inner.machine {
            #[cfg(feature = "cuda")]
            Machine::Cuda(ref gpu) => Shared::Cuda(std::sync::Arc::clone(gpu)),
            #[cfg(feature = "emulator")]
            Machine::Emulator(_) => Shared::Emulator,
        }
    }

    /// The newest CUDA version that the GPU's driver supports; `None` on the emulator.
    pub fn driver_version(&self) -> Option<DriverVersion> {
        match self.inner.machine {
            #[cfg(feature = "cuda")]
            Machine::Cuda(ref gpu) => Some(gpu.driver()),
            #[cfg(feature = "emulator")]
            Machine::Emulator(_) => None,
        }
    }

    /// How many warp instructions all launches on this emulator have run so far; `None` on a GPU. The same launches
    /// always run the same number, so a difference of two values measures the launches between.
    pub fn emulated_instructions(&self) -> Option<u64> {
        match self.inner.machine {
            #[cfg(feature = "cuda")]
            Machine::Cuda(_) => None,
            #[cfg(feature = "emulator")]
            Machine::Emulator(ref machine) => Some(machine.instructions()),
        }
    }

    /// The GPU, if it is one.
    #[cfg(feature = "cuda")]
    pub(crate) fn gpu(&self) -> Option<&cuda::Gpu> {
        match self.inner.machine {
            Machine::Cuda(ref gpu) => Some(gpu),
            #[cfg(feature = "emulator")]
            Machine::Emulator(_) => None,
        }
    }
}
