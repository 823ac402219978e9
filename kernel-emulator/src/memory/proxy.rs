//! What the generic proxy wrote to a block's shared memory, and which fences came after.
//!
//! `st`, `stmatrix`, `cp.async` and atomic operations write through the generic proxy. Bulk copies and
//! `wgmma` read through the asynchronous proxy, which sees such a write only if `fence.proxy.async` is on the
//! way from the one to the other (PTX ISA, "Memory Consistency Model: Proxies"): the thread that wrote executes
//! it and then synchronises with the thread that issues the read, or that one executes it after they have
//! synchronised.
//!
//! This is about shared memory, and holds where no races are looked for too. Of global memory, which has no such table, the clocks of the race detector
//! know the same: see [`Races::fence_proxy`](super::race::Races::fence_proxy).
//!
//! Known of every 16 bytes: who wrote them last, a warp and one of its lanes, and how many fences that warp
//! had executed by then. Earlier writers of the same 16 bytes are not known, and of the fences that a reading
//! warp executes only the last; which of its lanes did so is not asked.

use super::race::Clock;

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
    /// The warp's own clock, see `memory/race.rs`; 0 where races are not looked for.
    pub(crate) time: u32,
    /// Fences that the warp had executed before.
    fences: u32,
    /// Fences that had been executed in the block whose memory it is.
    order: u32,
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
    /// What the warp knew when it executed the last one, and how many the block had executed by then.
    last: Option<(Clock, u32)>,
}

/// What a write notes of the fences before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Before {
    fences: u32,
    time: u32,
}

/// What is known of a block's shared memory, and of the fences of its warps.
#[derive(Debug, Default)]
pub(crate) struct Proxies {
    /// One for each chunk; empty where no instruction of the kernel reads asynchronously.
    writers: Vec<Option<Writer>>,
    fences: Vec<Fences>,
    /// How many fences the block executed.
    order: u32,
}

impl Proxies {
    /// Forgets everything, for a block of this many warps and bytes. With 0 bytes nothing is followed.
    pub(crate) fn reset(&mut self, warps: usize, bytes: u32) {
        self.writers.clear();
        self.writers.resize(bytes.div_ceil(CHUNK) as usize, None);
        self.fences.clear();
        self.fences.resize(warps, Fences::default());
        self.order = 0;
    }

    #[inline]
    pub(crate) fn enabled(&self) -> bool {
        !self.writers.is_empty()
    }

    /// A warp of this block is about to write somewhere, at that time on its own clock.
    pub(crate) fn writes(&mut self, warp: u32, time: u32) -> Before {
        let fences = &mut self.fences[warp as usize];
        fences.wrote = true;
        let count = u32::try_from(fences.all.len()).unwrap_or(u32::MAX);
        Before { fences: count, time }
    }

    /// A lane of a warp wrote bytes of this block's shared memory.
    pub(crate) fn wrote(
        &mut self,
        (block, warp, lane): (usize, u32, u32),
        (pc, before): (u32, Before),
        offset: u32,
        bytes: u32,
    ) {
        let narrow = |i: u32| u8::try_from(i).expect("lanes, warps and ranks are below 256");
        let block = narrow(u32::try_from(block).expect("clusters are small"));
        let Before { fences, time } = before;
        let order = self.order;
        let (warp, lane) = (narrow(warp), narrow(lane));
        let writer = Writer { block, warp, lane, pc, time, fences, order };
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

    /// Lanes of a warp of this block execute `fence.proxy.async`, at that time on the warp's own clock and knowing
    /// so much of the others.
    pub(crate) fn fence(&mut self, warp: u32, lanes: u32, (time, known): (u32, Clock)) {
        if !self.enabled() {
            return;
        }
        self.order += 1;
        let fences = &mut self.fences[warp as usize];
        fences.last = Some((known, self.order));
        // A fence that follows no access adds nothing to the one before.
        let covered =
            fences.all.last().is_some_and(|last| lanes & !last.lanes == 0 && last.time == time);
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

    /// When lanes of a warp of this block fenced that had read at a time, on the warp's own clock.
    pub(crate) fn fenced_since(&self, warp: u32, lane: usize, time: u32) -> Vec<u32> {
        let of_lane = |fence: &&Fence| fence.lanes >> lane & 1 != 0 && fence.time >= time;
        self.fences[warp as usize].all.iter().filter(of_lane).map(|fence| fence.time).collect()
    }

    /// Whether a warp of this block executed a fence when it knew of what another warp did at a time.
    pub(crate) fn fenced_knowing(&self, warp: u32, (who, time): (u32, u32)) -> bool {
        let last = self.fences[warp as usize].last.as_ref();
        last.is_some_and(|(known, _)| known.reaches(who, time))
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

    /// Whether a warp of this block, which has a rank, executed a fence when it knew of a write. Of another block's
    /// writes only the order in which this block's fences were executed is known.
    pub(crate) fn fenced_by_reader(&self, warp: u32, writer: Writer, block: usize) -> bool {
        self.fences[warp as usize].last.as_ref().is_some_and(|(known, order)| {
            let writing = u32::from(writer.warp);
            let knows = usize::from(writer.block) != block
                || writing == warp
                || known.reaches(super::race::warp(writer.block.into(), writing), writer.time);
            knows && *order > writer.order
        })
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
