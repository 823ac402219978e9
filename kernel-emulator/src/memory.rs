//! Global memory: allocations of one device, shared by every block of a launch.
//!
//! Every byte has a shadow bit that says whether it was ever written. Data is kept in 64-bit atomics
//! with relaxed ordering, so that blocks on different host threads may race as they do on a device
//! (every access of up to 8 aligned bytes is single-copy atomic), and none of it is undefined here.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{
    AtomicU8, AtomicU64,
    Ordering::{Relaxed, SeqCst},
};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

pub(crate) mod access;
pub(crate) mod local;
pub(crate) mod proxy;
pub(crate) mod race;
pub(crate) mod shared;
pub(crate) mod tensor;
pub(crate) mod writes;

/// Where the first allocation is; above every window of the generic space.
const HEAP: u64 = 0x0700_0000_0000;
/// Unmapped bytes between two allocations, so that a small overrun never lands in a neighbour.
const GUARD: u64 = 1 << 16;

/// Why a host access to device memory is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The host cannot give that much memory.
    #[error("cannot allocate {bytes} bytes of emulated device memory")]
    OutOfMemory {
        /// Bytes asked for.
        bytes: u64,
    },
    /// An alignment that is not a power of two.
    #[error("alignment {align} is not a power of two")]
    Alignment {
        /// The alignment asked for.
        align: u64,
    },
    /// The address is in no allocation.
    #[error("address {address:#x} is in no allocation (never allocated, or freed)")]
    NotAllocated {
        /// The address.
        address: u64,
    },
    /// The access crosses the end of its allocation.
    #[error(
        "{bytes} bytes at {address:#x} cross the end of an allocation of {size} bytes at {base:#x}"
    )]
    OutOfBounds {
        /// First byte.
        address: u64,
        /// Bytes of the access.
        bytes: u64,
        /// Where the allocation starts.
        base: u64,
        /// Bytes of the allocation.
        size: u64,
    },
    /// A byte that nothing ever wrote.
    #[error("the byte at {address:#x} was never written")]
    NeverWritten {
        /// The first such byte.
        address: u64,
    },
}

/// One allocation.
#[derive(Debug)]
pub(crate) struct Allocation {
    pub(crate) base: u64,
    pub(crate) bytes: u64,
    pub(crate) words: Box<[AtomicU64]>,
    /// One bit per byte: written.
    pub(crate) written: Box<[AtomicU8]>,
}

impl Allocation {
    fn new(base: u64, bytes: u64) -> Option<Allocation> {
        let count = usize::try_from(bytes.div_ceil(8)).ok()?;
        let mut words = Vec::new();
        words.try_reserve_exact(count).ok()?;
        words.resize_with(count, || AtomicU64::new(0));
        let mut written = Vec::new();
        written.try_reserve_exact(count).ok()?;
        written.resize_with(count, || AtomicU8::new(0));
        Some(Allocation {
            base,
            bytes,
            words: words.into_boxed_slice(),
            written: written.into_boxed_slice(),
        })
    }

    /// Merges the bytes of `mask` into one word.
    #[inline]
    pub(crate) fn put(&self, index: usize, value: u64, mask: u8) {
        if mask == 0xFF {
            self.words[index].store(value, Relaxed);
        } else {
            let bits = spread(mask);
            let word = &self.words[index];
            let mut old = word.load(Relaxed);
            while let Err(seen) =
                word.compare_exchange_weak(old, old & !bits | value & bits, Relaxed, Relaxed)
            {
                old = seen;
            }
        }
        let written = &self.written[index];
        if written.load(Relaxed) & mask != mask {
            written.fetch_or(mask, Relaxed);
        }
    }

    /// Writes bytes from the start offset; the caller has checked the range.
    pub(crate) fn write(&self, offset: u64, data: &[u8]) {
        let mut at = usize::try_from(offset).expect("an allocation fits the host's memory");
        let mut rest = data;
        while !rest.is_empty() {
            let start = at % 8;
            let take = rest.len().min(8 - start);
            let mut word = [0; 8];
            word[start..start + take].copy_from_slice(&rest[..take]);
            let mask = byte_mask(start, take);
            self.put(at / 8, u64::from_le_bytes(word), mask);
            at += take;
            rest = &rest[take..];
        }
    }

    /// Reads bytes; the first offset never written, if any.
    pub(crate) fn read(&self, offset: u64, data: &mut [u8]) -> Option<u64> {
        let mut at = usize::try_from(offset).expect("an allocation fits the host's memory");
        let mut rest = data;
        let mut unwritten = None;
        if at.is_multiple_of(8) {
            // Whole words that were written as a whole, which nearly all are.
            let (whole, _) = rest.as_chunks_mut::<8>();
            let words = self.words[at / 8..].iter().zip(&self.written[at / 8..]);
            let mut done = 0;
            for (bytes, (word, written)) in whole.iter_mut().zip(words) {
                if written.load(Relaxed) != 0xFF {
                    break;
                }
                *bytes = word.load(Relaxed).to_le_bytes();
                done += 1;
            }
            at += 8 * done;
            rest = &mut rest[8 * done..];
        }
        while !rest.is_empty() {
            let start = at % 8;
            let take = rest.len().min(8 - start);
            let word = self.words[at / 8].load(Relaxed).to_le_bytes();
            let missing = byte_mask(start, take) & !self.written[at / 8].load(Relaxed);
            if missing != 0 && unwritten.is_none() {
                unwritten = Some((at / 8 * 8) as u64 + u64::from(missing.trailing_zeros()));
            }
            rest[..take].copy_from_slice(&word[start..start + take]);
            at += take;
            rest = &mut rest[take..];
        }
        unwritten
    }
}

/// The bits of the bytes that `mask` names.
#[inline]
pub(crate) fn spread(mask: u8) -> u64 {
    let m = u64::from(mask);
    // Bit i goes to byte i, then each byte that is not zero becomes 0xFF.
    let one = (m & 1)
        | (m & 2) << 7
        | (m & 4) << 14
        | (m & 8) << 21
        | (m & 16) << 28
        | (m & 32) << 35
        | (m & 64) << 42
        | (m & 128) << 49;
    one * 0xFF
}

/// The mask of `count` bytes from byte `start` of a word.
pub(crate) fn byte_mask(start: usize, count: usize) -> u8 {
    let ones = (1u32 << count) - 1;
    u8::try_from(ones << start & 0xFF).expect("masked to eight bits")
}

/// The global memory of one emulated device.
///
/// Addresses are those that a kernel sees. Nothing is ever zero by itself: a byte counts as
/// written once the host or a kernel wrote it, and [`read`](Self::read) refuses the others.
/// Freed addresses are never given out again, so a stale pointer is always noticed.
#[derive(Debug)]
pub struct DeviceMemory {
    allocations: RwLock<BTreeMap<u64, Arc<Allocation>>>,
    next: Mutex<u64>,
    /// Module-scope variables, by program: they live as long as the device.
    modules: Mutex<BTreeMap<u64, Arc<Vec<u64>>>>,
    launches: AtomicU64,
}

/// A launch in flight, until it is dropped.
#[derive(Debug)]
pub(crate) struct InFlight<'a>(&'a AtomicU64);

impl InFlight<'_> {
    /// How many there are on the same memory.
    pub(crate) fn launches(&self) -> u64 {
        self.0.load(SeqCst)
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

impl Default for DeviceMemory {
    fn default() -> Self {
        DeviceMemory::new()
    }
}

impl DeviceMemory {
    /// A device without allocations.
    pub fn new() -> DeviceMemory {
        DeviceMemory {
            allocations: RwLock::new(BTreeMap::new()),
            next: Mutex::new(HEAP),
            modules: Mutex::new(BTreeMap::new()),
            launches: AtomicU64::new(0),
        }
    }

    /// A launch that begins.
    pub(crate) fn begin(&self) -> InFlight<'_> {
        self.launches.fetch_add(1, SeqCst);
        InFlight(&self.launches)
    }

    /// Bytes of the largest allocation that is tried: 4 TiB.
    pub const LARGEST: u64 = 1 << 42;

    /// The addresses of the allocation that `address` is in.
    pub fn range_of(&self, address: u64) -> Option<Range<u64>> {
        let allocation = self.find(address, 1).ok()?;
        Some(allocation.base..allocation.base + allocation.bytes)
    }

    /// Bytes of all allocations.
    pub fn allocated_bytes(&self) -> u64 {
        let allocations = self.allocations.read().unwrap_or_else(PoisonError::into_inner);
        allocations.values().map(|allocation| allocation.bytes).sum()
    }

    /// Allocates `bytes` bytes at a multiple of 256; the bytes count as never written.
    ///
    /// # Errors
    /// [`MemoryError::OutOfMemory`].
    pub fn allocate(&self, bytes: u64) -> Result<u64, MemoryError> {
        self.allocate_aligned(bytes, 256)
    }

    /// Allocates at a multiple of `align`, and of 256.
    ///
    /// # Errors
    /// [`MemoryError::OutOfMemory`]; [`MemoryError::Alignment`] unless `align` is a power of two.
    pub fn allocate_aligned(&self, bytes: u64, align: u64) -> Result<u64, MemoryError> {
        if !align.is_power_of_two() {
            return Err(MemoryError::Alignment { align });
        }
        let too_much = MemoryError::OutOfMemory { bytes };
        if bytes > Self::LARGEST {
            return Err(too_much);
        }
        let base = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let base = next.checked_next_multiple_of(align.max(256)).ok_or(too_much)?;
            *next = base.checked_add(bytes + GUARD).ok_or(too_much)?;
            base
        };
        let allocation = Allocation::new(base, bytes).ok_or(too_much)?;
        let mut allocations = self.allocations.write().unwrap_or_else(PoisonError::into_inner);
        allocations.insert(base, Arc::new(allocation));
        Ok(base)
    }

    /// Frees the allocation that starts at `address`. A launch in flight keeps what it started with.
    ///
    /// # Errors
    /// [`MemoryError::NotAllocated`] if no allocation starts there.
    pub fn free(&self, address: u64) -> Result<(), MemoryError> {
        let mut allocations = self.allocations.write().unwrap_or_else(PoisonError::into_inner);
        allocations.remove(&address).map(drop).ok_or(MemoryError::NotAllocated { address })
    }

    /// Writes bytes.
    ///
    /// # Errors
    /// [`MemoryError::NotAllocated`], [`MemoryError::OutOfBounds`].
    pub fn write(&self, address: u64, data: &[u8]) -> Result<(), MemoryError> {
        let allocation = self.find(address, data.len() as u64)?;
        allocation.write(address - allocation.base, data);
        Ok(())
    }

    /// Reads bytes, each of which must have been written.
    ///
    /// # Errors
    /// [`MemoryError::NotAllocated`], [`MemoryError::OutOfBounds`], [`MemoryError::NeverWritten`]
    /// (then `data` holds what was there, with zeros for the bytes that were never written).
    pub fn read(&self, address: u64, data: &mut [u8]) -> Result<(), MemoryError> {
        let allocation = self.find(address, data.len() as u64)?;
        match allocation.read(address - allocation.base, data) {
            None => Ok(()),
            Some(offset) => Err(MemoryError::NeverWritten { address: allocation.base + offset }),
        }
    }

    /// Reads bytes, with zeros for those that were never written.
    ///
    /// # Errors
    /// [`MemoryError::NotAllocated`], [`MemoryError::OutOfBounds`].
    pub fn read_unchecked(&self, address: u64, data: &mut [u8]) -> Result<(), MemoryError> {
        let allocation = self.find(address, data.len() as u64)?;
        allocation.read(address - allocation.base, data);
        Ok(())
    }

    /// Copies `bytes` bytes between places that may overlap; a byte that was never written stays so.
    ///
    /// # Errors
    /// [`MemoryError::NotAllocated`], [`MemoryError::OutOfBounds`].
    pub fn copy(&self, from: u64, to: u64, bytes: u64) -> Result<(), MemoryError> {
        let source = self.find(from, bytes)?;
        let target = self.find(to, bytes)?;
        let length = usize::try_from(bytes).map_err(|_| MemoryError::OutOfMemory { bytes })?;
        let mut data = vec![0; length];
        let whole = source.read(from - source.base, &mut data).is_none();
        target.write(to - target.base, &data);
        if !whole {
            for i in 0..bytes {
                let byte = |allocation: &Allocation, address: u64| {
                    let offset = usize::try_from(address - allocation.base)
                        .expect("an allocation fits the host's memory");
                    (offset / 8, 1u8 << (offset % 8))
                };
                let (word, bit) = byte(&source, from + i);
                if source.written[word].load(Relaxed) & bit == 0 {
                    let (word, bit) = byte(&target, to + i);
                    target.written[word].fetch_and(!bit, Relaxed);
                }
            }
        }
        Ok(())
    }

    /// Sets `bytes` bytes to one value.
    ///
    /// # Errors
    /// [`MemoryError::NotAllocated`], [`MemoryError::OutOfBounds`].
    pub fn fill(&self, address: u64, byte: u8, bytes: u64) -> Result<(), MemoryError> {
        let allocation = self.find(address, bytes)?;
        let block = [byte; 4096];
        let mut offset = address - allocation.base;
        let end = offset + bytes;
        while offset < end {
            let take = usize::try_from(end - offset).unwrap_or(usize::MAX).min(block.len());
            allocation.write(offset, &block[..take]);
            offset += take as u64;
        }
        Ok(())
    }

    fn find(&self, address: u64, bytes: u64) -> Result<Arc<Allocation>, MemoryError> {
        let allocations = self.allocations.read().unwrap_or_else(PoisonError::into_inner);
        let (_, allocation) = allocations
            .range(..=address)
            .next_back()
            .ok_or(MemoryError::NotAllocated { address })?;
        let offset = address - allocation.base;
        if offset > allocation.bytes || (offset == allocation.bytes && bytes > 0) {
            return Err(MemoryError::NotAllocated { address });
        }
        if bytes > allocation.bytes - offset {
            let Allocation { base, bytes: size, .. } = **allocation;
            return Err(MemoryError::OutOfBounds { address, bytes, base, size });
        }
        Ok(Arc::clone(allocation))
    }

    /// Every allocation, by address: what one launch may touch.
    pub(crate) fn snapshot(&self) -> Vec<Arc<Allocation>> {
        let allocations = self.allocations.read().unwrap_or_else(PoisonError::into_inner);
        allocations.values().cloned().collect()
    }

    /// The addresses of a program's module-scope variables, made by `init` on the first launch.
    pub(crate) fn module(
        &self,
        program: u64,
        init: impl FnOnce() -> Result<Vec<u64>, MemoryError>,
    ) -> Result<Arc<Vec<u64>>, MemoryError> {
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(addresses) = modules.get(&program) {
            return Ok(Arc::clone(addresses));
        }
        let addresses = Arc::new(init()?);
        modules.insert(program, Arc::clone(&addresses));
        Ok(addresses)
    }
}
