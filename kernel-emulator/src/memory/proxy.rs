//! What the generic proxy wrote to a block's shared memory, and which fences came after.
//!
//! `st`, `stmatrix`, `cp.async` and atomic operations write through the generic proxy. Bulk copies and
//! `wgmma` read through the asynchronous proxy, which sees such a write only after the thread that wrote
//! executed `fence.proxy.async` (PTX ISA, "Memory Consistency Model: Proxies"), and then synchronised
//! with the thread that issues the read.
//!
//! Known of every 16 bytes: who wrote them last, a warp and one of its lanes, and how many fences that warp
//! had executed by then. Earlier writers of the same 16 bytes are not known.

/// Bytes that share a mark: the smallest that an asynchronous read takes.
const CHUNK: u32 = 16;

/// The last write of the generic proxy to a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Writer {
    /// The writing warp's block, in the cluster.
    pub(crate) block: u8,
    pub(crate) warp: u8,
    pub(crate) lane: u8,
    /// The writing instruction.
    pub(crate) pc: u32,
    /// Fences that the warp had executed before.
    fences: u32,
}

/// A `fence.proxy.async` of a warp.
#[derive(Clone, Copy, Debug)]
struct Fence {
    lanes: u32,
    /// The warp's own clock, see `memory/race.rs`; 0 where races are not looked for.
    time: u32,
}

/// What is known of one warp's fences.
#[derive(Clone, Debug, Default)]
struct Fences {
    all: Vec<Fence>,
    /// Whether the warp wrote since the last one.
    wrote: bool,
}

/// What is known of a block's shared memory, and of the fences of its warps.
#[derive(Debug, Default)]
pub(crate) struct Proxies {
    /// One for each chunk; empty where no instruction of the kernel reads asynchronously.
    writers: Vec<Option<Writer>>,
    fences: Vec<Fences>,
}

impl Proxies {
    /// Forgets everything, for a block of so many warps and bytes. With 0 bytes nothing is followed.
    pub(crate) fn reset(&mut self, warps: usize, bytes: u32) {
        self.writers.clear();
        self.writers.resize(bytes.div_ceil(CHUNK) as usize, None);
        self.fences.clear();
        self.fences.resize(warps, Fences::default());
    }

    #[inline]
    pub(crate) fn enabled(&self) -> bool {
        !self.writers.is_empty()
    }

    /// A warp of this block is about to write somewhere: how many fences it executed before.
    pub(crate) fn writes(&mut self, warp: u32) -> u32 {
        let fences = &mut self.fences[warp as usize];
        fences.wrote = true;
        u32::try_from(fences.all.len()).unwrap_or(u32::MAX)
    }

    /// A lane of a warp wrote bytes of this block's shared memory.
    pub(crate) fn wrote(
        &mut self,
        (block, warp, lane): (usize, u32, u32),
        (pc, fences): (u32, u32),
        offset: u32,
        bytes: u32,
    ) {
        let narrow = |i: u32| u8::try_from(i).expect("lanes, warps and ranks are below 256");
        let block = narrow(u32::try_from(block).expect("clusters are small"));
        let writer = Writer { block, warp: narrow(warp), lane: narrow(lane), pc, fences };
        self.chunks(offset, bytes).fill(Some(writer));
    }

    /// The asynchronous proxy wrote the bytes.
    pub(crate) fn forget(&mut self, offset: u32, bytes: u32) {
        if self.enabled() {
            self.chunks(offset, bytes).fill(None);
        }
    }

    fn chunks(&mut self, offset: u32, bytes: u32) -> &mut [Option<Writer>] {
        let end = (offset + bytes).div_ceil(CHUNK) as usize;
        &mut self.writers[(offset / CHUNK) as usize..end]
    }

    /// Lanes of a warp of this block execute `fence.proxy.async`, at that time on the warp's own clock.
    pub(crate) fn fence(&mut self, warp: u32, lanes: u32, time: u32) {
        if !self.enabled() {
            return;
        }
        let fences = &mut self.fences[warp as usize];
        // A fence that follows no write adds nothing to the one before.
        let covered = fences.all.last().is_some_and(|last| lanes & !last.lanes == 0);
        if fences.wrote || !covered {
            fences.all.push(Fence { lanes, time });
            fences.wrote = false;
        }
    }

    /// When the writing lane first fenced after a write, on its warp's own clock; `self` is the writer's
    /// block.
    pub(crate) fn fenced(&self, writer: Writer) -> Option<u32> {
        let fences = &self.fences[usize::from(writer.warp)].all;
        let later = fences.get(writer.fences as usize..).unwrap_or_default();
        later.iter().find(|fence| fence.lanes >> writer.lane & 1 != 0).map(|fence| fence.time)
    }

    /// Whether the next fence after two writes is the same for both; `self` is the writers' block.
    #[inline]
    pub(crate) fn fenced_alike(&self, a: Writer, b: Writer) -> bool {
        let both = 1u32 << a.lane | 1 << b.lane;
        (a.block, a.warp, a.fences) == (b.block, b.warp, b.fences)
            && self.fences[usize::from(a.warp)]
                .all
                .get(a.fences as usize)
                .is_some_and(|fence| fence.lanes & both == both)
    }

    /// The last writer of 16 bytes, by number.
    #[inline]
    pub(crate) fn writer(&self, unit: u32) -> Option<Writer> {
        self.writers.get(unit as usize).copied().flatten()
    }

    /// The different last writers of the bytes, neighbours once, with the offset of the first byte of each.
    pub(crate) fn writers(&self, offset: u32, bytes: u32) -> Vec<(u32, Writer)> {
        let mut found: Vec<(u32, Writer)> = Vec::new();
        if !self.enabled() || bytes == 0 {
            return found;
        }
        for chunk in offset / CHUNK..(offset + bytes).div_ceil(CHUNK) {
            if let Some(writer) = self.writers[chunk as usize]
                && found.last().is_none_or(|(_, last)| *last != writer)
            {
                found.push((chunk * CHUNK, writer));
            }
        }
        found
    }
}
