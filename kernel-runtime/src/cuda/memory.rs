//! Memory other than tensors: pinned memory of the host, what the driver knows about an address, the device's pool.

use super::{Gpu, Queue, check, library};
use crate::{DriverError, Error, MemoryUse, Result, foreign::Found, pinned::Memory};
use cudarc::driver::sys::{self, CUpointer_attribute as A};
use std::{
    ffi::{c_int, c_void},
    ptr::{NonNull, from_mut, null_mut},
    sync::{Arc, PoisonError},
};

/// Host memory that the driver has pinned.
pub(crate) struct Pinned {
    gpu: Arc<Gpu>,
    start: NonNull<u8>,
}

impl Pinned {
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let Ok(_bound) = self.gpu.bind() else { return };
        // SAFETY: `cuMemHostAlloc` gave the memory, and copies of it are done: `pinned::Memory` has waited for them.
        let _ = unsafe { sys::cuMemFreeHost(self.start.as_ptr().cast()) };
    }
}

/// `CUmemAccessDesc`, whose fields have different names in different versions of the bindings.
#[repr(C)]
struct Access {
    location: u32,
    id: c_int,
    flags: u32,
}

impl Access {
    /// `CU_MEM_LOCATION_TYPE_DEVICE`.
    const DEVICE: u32 = 1;
    /// `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`.
    const BOTH: u32 = 3;
}

type SetAccess = unsafe extern "C" fn(sys::CUmemoryPool, *const Access, usize) -> sys::CUresult;

impl Gpu {
    /// Pinned memory, reachable from every context; `bytes` is not zero.
    pub(crate) fn pinned(self: &Arc<Self>, bytes: usize) -> Result<Pinned> {
        let _bound = self.bind()?;
        let mut start: *mut c_void = null_mut();
        // SAFETY: a context is current; the pointer is to a live address.
        let answer =
            unsafe { sys::cuMemHostAlloc(&raw mut start, bytes, sys::CU_MEMHOSTALLOC_PORTABLE) };
        let required = bytes as u64;
        if answer == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY {
            return Err(Error::OutOfMemory { device: "the host".to_owned(), required });
        }
        check("cuMemHostAlloc", answer).map_err(|cause| self.failed(cause))?;
        let start = NonNull::new(start.cast())
            .ok_or_else(|| Error::OutOfMemory { device: "the host".to_owned(), required })?;
        Ok(Pinned { gpu: Arc::clone(self), start })
    }

    /// What the driver knows about an address.
    pub(crate) fn find(&self, address: u64) -> Result<Found> {
        let _bound = self.bind()?;
        let mut kind = 0u32;
        match self.pointer_attribute(A::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address, &mut kind) {
            Ok(()) => {}
            Err(cause) if cause.code == sys::CUresult::CUDA_ERROR_INVALID_VALUE as u32 => {
                return Ok(Found::Nothing);
            }
            Err(cause) => return Err(self.failed(cause)),
        }
        let mut managed = 0u32;
        let is_managed = A::CU_POINTER_ATTRIBUTE_IS_MANAGED;
        self.pointer_attribute(is_managed, address, &mut managed)
            .map_err(|cause| self.failed(cause))?;
        let on_device = kind == sys::CUmemorytype::CU_MEMORYTYPE_DEVICE as u32;
        if !on_device && managed == 0 {
            return Ok(Found::Host);
        }
        let mut owner = -1i32;
        let ordinal = A::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
        self.pointer_attribute(ordinal, address, &mut owner).map_err(|cause| self.failed(cause))?;
        if managed == 0
            && let Ok(owner) = usize::try_from(owner)
            && owner != self.ordinal
        {
            return Ok(Found::OtherDevice { ordinal: owner });
        }
        let (mut start, mut bytes) = (0u64, 0usize);
        self.pointer_attribute(A::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address, &mut start)
            .and_then(|()| {
                self.pointer_attribute(A::CU_POINTER_ATTRIBUTE_RANGE_SIZE, address, &mut bytes)
            })
            .map_err(|cause| self.failed(cause))?;
        Ok(Found::Range { start, bytes: bytes as u64 })
    }

    /// Writes an attribute of an address to `value`, whose type has to be the one that the driver documents.
    #[expect(clippy::unused_self, reason = "the context of the GPU is current")]
    fn pointer_attribute<V>(
        &self,
        attribute: A,
        address: u64,
        value: &mut V,
    ) -> Result<(), DriverError> {
        // SAFETY: the callers above pass what the driver documents for each attribute (CUDA Driver API, "cuPointerGetAttribute").
        let answer =
            unsafe { sys::cuPointerGetAttribute(from_mut(value).cast(), attribute, address) };
        check("cuPointerGetAttribute", answer)
    }

    /// The device's memory, and how much of it is in its pool.
    pub(crate) fn memory_use(&self) -> Result<MemoryUse> {
        let _bound = self.bind()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: a context is current; the pointers are to live integers.
        let answer = unsafe { sys::cuMemGetInfo_v2(&raw mut free, &raw mut total) };
        check("cuMemGetInfo", answer).map_err(|cause| self.failed(cause))?;
        let mut memory = MemoryUse { free: free as u64, total: total as u64, reserved: 0, used: 0 };
        if let Some(pool) = self.pool()? {
            use sys::CUmemPool_attribute as P;
            memory.reserved = self.pool_attribute(pool, P::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)?;
            memory.used = self.pool_attribute(pool, P::CU_MEMPOOL_ATTR_USED_MEM_CURRENT)?;
        }
        Ok(memory)
    }

    /// Lets the pool keep a number of unused bytes.
    pub(crate) fn keep_memory(&self, bytes: u64) -> Result<()> {
        let Some(pool) = self.pool()? else { return Ok(()) };
        let mut value = bytes;
        let attribute = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        // SAFETY: the pool is the device's own; the attribute is a 64-bit integer (CUDA Driver API, "cuMemPoolSetAttribute").
        let answer =
            unsafe { sys::cuMemPoolSetAttribute(pool, attribute, (&raw mut value).cast()) };
        check("cuMemPoolSetAttribute", answer).map_err(|cause| self.failed(cause))
    }

    /// Returns unused memory of the pool, except for a number of bytes.
    pub(crate) fn trim_memory(&self, keep_bytes: u64) -> Result<()> {
        let Some(pool) = self.pool()? else { return Ok(()) };
        let keep = usize::try_from(keep_bytes).unwrap_or(usize::MAX);
        // SAFETY: the pool is the device's own.
        let answer = unsafe { sys::cuMemPoolTrimTo(pool, keep) };
        check("cuMemPoolTrimTo", answer).map_err(|cause| self.failed(cause))
    }

    /// Whether kernels of this GPU can access the memory of another.
    pub(crate) fn reaches(&self, other: &Self) -> bool {
        self.peers.read().unwrap_or_else(PoisonError::into_inner).contains(&other.ordinal)
    }

    /// Lets kernels of this GPU access the memory of another; false if the hardware does not connect them.
    pub(crate) fn enable_peer(&self, other: &Self) -> Result<bool> {
        if self.ordinal == other.ordinal || self.reaches(other) {
            return Ok(true);
        }
        let failed = |cause| self.failed(cause);
        let mut possible = 0;
        // SAFETY: both device handles came from `cuDeviceGet`; the pointer is to a live integer.
        let answer =
            unsafe { sys::cuDeviceCanAccessPeer(&raw mut possible, self.device, other.device) };
        check("cuDeviceCanAccessPeer", answer).map_err(failed)?;
        if possible == 0 {
            return Ok(false);
        }
        let theirs = other.context()?;
        let _bound = self.bind()?;
        // SAFETY: the other context was retained and is never released; the driver defines no flag.
        let answer = unsafe { sys::cuCtxEnablePeerAccess(theirs.0, 0) };
        // Another library of the process may have done it.
        if answer != sys::CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED {
            check("cuCtxEnablePeerAccess", answer).map_err(failed)?;
        }
        if let Some(pool) = other.pool()? {
            // What comes from a pool has access rights of its own (CUDA Driver API, "Stream Ordered Memory Allocator").
            // SAFETY: the driver documents this signature for the name.
            let set = unsafe { library::function::<SetAccess>(c"cuMemPoolSetAccess") };
            let set =
                set.ok_or(Error::DriverMissing { library: "libcuda's cuMemPoolSetAccess" })?;
            let access = Access { location: Access::DEVICE, id: self.device, flags: Access::BOTH };
            // SAFETY: the pool is the other device's own; the pointer is to one description.
            let answer = unsafe { set(pool, &raw const access, 1) };
            check("cuMemPoolSetAccess", answer).map_err(failed)?;
        }
        self.peers.write().unwrap_or_else(PoisonError::into_inner).push(other.ordinal);
        Ok(true)
    }

    /// The pool that `cuMemAllocAsync` uses, if the device has pools.
    fn pool(&self) -> Result<Option<sys::CUmemoryPool>> {
        if !self.memory_pools {
            return Ok(None);
        }
        let _bound = self.bind()?;
        let mut pool = null_mut();
        // SAFETY: the device handle came from `cuDeviceGet`; the pointer is to a live handle.
        let answer = unsafe { sys::cuDeviceGetMemPool(&raw mut pool, self.device) };
        check("cuDeviceGetMemPool", answer).map_err(|cause| self.failed(cause))?;
        Ok(Some(pool))
    }

    fn pool_attribute(
        &self,
        pool: sys::CUmemoryPool,
        attribute: sys::CUmemPool_attribute,
    ) -> Result<u64> {
        let mut value = 0u64;
        // SAFETY: the pool is the device's own; the attributes read here are 64-bit integers.
        let answer =
            unsafe { sys::cuMemPoolGetAttribute(pool, attribute, (&raw mut value).cast()) };
        check("cuMemPoolGetAttribute", answer).map_err(|cause| self.failed(cause))?;
        Ok(value)
    }
}

impl Queue {
    pub(crate) fn upload_pinned(&self, address: u64, from: &Memory) -> Result<()> {
        let host = from.host();
        self.call("cuMemcpyHtoDAsync", || {
            // SAFETY: the caller has as many bytes at the address; the host's are kept, and not written to, until the copy is
            // done (`pinned::Memory`).
            unsafe {
                sys::cuMemcpyHtoDAsync_v2(address, host.start().cast(), host.bytes(), self.stream)
            }
        })
    }

    pub(crate) fn download_pinned(&self, address: u64, to: &Memory) -> Result<()> {
        let host = to.host();
        self.call("cuMemcpyDtoHAsync", || {
            // SAFETY: as above; nobody looks at the host's bytes until the copy is done.
            unsafe {
                sys::cuMemcpyDtoHAsync_v2(host.start().cast(), address, host.bytes(), self.stream)
            }
        })
    }
}
