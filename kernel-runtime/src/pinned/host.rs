//! Bytes of the host that a device copies, from the driver or from the heap.

#[cfg(feature = "emulator")]
use crate::Error;
#[cfg(any(feature = "cuda", feature = "emulator"))]
use crate::Result;
#[cfg(feature = "cuda")]
use crate::cuda;
#[cfg(feature = "emulator")]
use std::alloc::{Layout, alloc_zeroed, dealloc};
#[cfg(any(feature = "cuda", feature = "emulator"))]
use std::ptr::without_provenance_mut;
use std::{mem::ManuallyDrop, ptr::NonNull};

/// An allocation of the host, aligned to [`ALIGNMENT`]; its bytes are always initialised.
///
/// [`Memory`](super::Memory) decides who may access them.
pub(crate) struct HostMemory {
    start: NonNull<u8>,
    #[cfg(any(feature = "cuda", feature = "emulator"))]
    bytes: usize,
    source: Source,
}

/// Where the bytes come from, and where they are freed.
enum Source {
    /// Nothing was allocated, or nothing is to be freed.
    Nowhere,
    #[cfg(feature = "emulator")]
    Heap(Layout),
    #[cfg(feature = "cuda")]
    Driver(#[expect(dead_code, reason = "it is held and dropped")] cuda::Pinned),
}

/// Like the driver's allocations: a page.
#[cfg(any(feature = "cuda", feature = "emulator"))]
const ALIGNMENT: usize = 4096;

// SAFETY: the bytes belong to this value alone; access to them is ordered by the lock of `Memory`.
unsafe impl Send for HostMemory {}
// SAFETY: as above.
unsafe impl Sync for HostMemory {}

impl HostMemory {
    #[cfg(any(feature = "cuda", feature = "emulator"))]
    fn nothing() -> Self {
        let start = NonNull::new(without_provenance_mut(ALIGNMENT)).expect("it is not zero");
        Self { start, bytes: 0, source: Source::Nowhere }
    }

    /// Zeros on the heap.
    #[cfg(feature = "emulator")]
    pub(crate) fn on_heap(bytes: usize) -> Result<Self> {
        if bytes == 0 {
            return Ok(Self::nothing());
        }
        let missing =
            || Error::OutOfMemory { device: "the host".to_owned(), required: bytes as u64 };
        let layout = Layout::from_size_align(bytes, ALIGNMENT).map_err(|_| missing())?;
        // SAFETY: the layout has a size that is not zero.
        let start = unsafe { alloc_zeroed(layout) };
        let start = NonNull::new(start).ok_or_else(missing)?;
        Ok(Self { start, bytes, source: Source::Heap(layout) })
    }

    /// Zeros in memory that the driver has pinned.
    #[cfg(feature = "cuda")]
    pub(crate) fn pinned(
        bytes: usize,
        allocate: impl FnOnce() -> Result<cuda::Pinned>,
    ) -> Result<Self> {
        if bytes == 0 {
            return Ok(Self::nothing());
        }
        let pinned = allocate()?;
        let start = pinned.start();
        // SAFETY: the driver has given as many bytes, which nobody else has yet.
        unsafe { start.write_bytes(0, bytes) };
        Ok(Self { start, bytes, source: Source::Driver(pinned) })
    }

    /// The first byte.
    pub(crate) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// How many there are.
    #[cfg(feature = "cuda")]
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// A copy of the bytes, which a kernel may have written before it ended.
    #[cfg(feature = "cuda")]
    pub(crate) fn to_vec(&self) -> Vec<u8> {
        let mut copy = vec![0; self.bytes];
        // SAFETY: as many bytes are there and initialised, and the kernels that wrote to them have ended or failed.
        unsafe { self.start().copy_to_nonoverlapping(copy.as_mut_ptr(), self.bytes) };
        copy
    }

    /// Keeps the memory for the life of the process.
    pub(crate) fn leak(&mut self) {
        let _kept = ManuallyDrop::new(std::mem::replace(&mut self.source, Source::Nowhere));
    }

    /// The bytes.
    ///
    /// # Safety
    /// Nobody writes to them meanwhile.
    #[cfg(feature = "emulator")]
    pub(crate) unsafe fn as_bytes(&self) -> &[u8] {
        // SAFETY: the bytes are there and initialised; the caller keeps writers out.
        unsafe { std::slice::from_raw_parts(self.start(), self.bytes) }
    }

    /// The bytes, to be written.
    ///
    /// # Safety
    /// Nobody else accesses them meanwhile.
    #[cfg(feature = "emulator")]
    #[expect(clippy::mut_from_ref, reason = "the lock of `Memory` keeps others out")]
    pub(crate) unsafe fn as_bytes_mut(&self) -> &mut [u8] {
        // SAFETY: the bytes are there and initialised; the caller keeps others out.
        unsafe { std::slice::from_raw_parts_mut(self.start(), self.bytes) }
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        match self.source {
            #[cfg(feature = "emulator")]
            Source::Heap(layout) => {
                // SAFETY: `alloc_zeroed` gave the memory for this layout.
                unsafe { dealloc(self.start(), layout) };
            }
            Source::Nowhere => {}
            #[cfg(feature = "cuda")]
            Source::Driver(_) => {}
        }
    }
}
