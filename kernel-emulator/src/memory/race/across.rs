//! Races between the clusters of a launch, on global memory.
//!
//! Every 4-byte word remembers who wrote it last and two clusters that read it since, each as an epoch of its cluster. Within a cluster
//! [`Races`](super::Races) knows more. Clusters run on several host threads: a cell is a few atomic words, and an access notes itself before
//! it looks for others, so that of two that meet one at least sees the other.
//!
//! Words of which clusters write different bytes are split: each byte has a cell of its own.

use std::collections::HashMap;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicU32, AtomicU64, fence};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::code::Doubles;
use crate::machine::warp::lanes;
use crate::memory::Allocation;

/// Words of a page.
const WORDS: usize = 128;
/// Bytes of a page.
const BYTES: u64 = 4 * WORDS as u64;

const TIME_BITS: u32 = 19;
const LANE_BITS: u32 = 5;
const WHO_BITS: u32 = 11;
const MASK_BITS: u32 = 4;
/// Clusters beyond so many are not told apart from nobody: their races are missed.
const CLUSTERS: u32 = 1 << 24;

/// Who accessed a word: cluster, warp as a participant of it, lane, time, strength, and which bytes. 0 is nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp(u64);

impl Stamp {
    const NOBODY: Stamp = Stamp(0);
    /// In place of bytes: each byte of the word has a cell of its own.
    const SPLIT: Stamp = Stamp(u64::MAX);

    /// An access; the bytes are added later.
    pub(super) fn new(cluster: u32, (who, lane): (u32, usize), time: u32, strong: bool) -> Stamp {
        if cluster >= CLUSTERS - 2 {
            return Stamp::NOBODY;
        }
        // Later times are not told apart, so that more is taken as known.
        let time = time.min((1 << TIME_BITS) - 1);
        let who = u64::from(who) << LANE_BITS | lane as u64;
        let whose = (u64::from(cluster) + 1) << 1 | u64::from(strong);
        Stamp(((whose << (WHO_BITS + LANE_BITS) | who) << TIME_BITS | u64::from(time)) << MASK_BITS)
    }

    /// The same of a lane, where this is that of lane 0.
    fn of_lane(self, lane: usize) -> Stamp {
        if self == Stamp::NOBODY {
            self
        } else {
            Stamp(self.0 | (lane as u64) << (MASK_BITS + TIME_BITS))
        }
    }

    fn with_bytes(self, mask: u64) -> Stamp {
        if self == Stamp::NOBODY { self } else { Stamp(self.0 | mask) }
    }

    fn bytes(self) -> u64 {
        self.0 & 0xF
    }

    fn field(self, from: u32, bits: u32) -> u32 {
        u32::try_from(self.0 >> from & ((1 << bits) - 1)).expect("a field has at most 32 bits")
    }

    pub(crate) fn cluster(self) -> u32 {
        self.field(MASK_BITS + TIME_BITS + LANE_BITS + WHO_BITS + 1, 24) - 1
    }

    pub(super) fn who(self) -> u32 {
        self.field(MASK_BITS + TIME_BITS + LANE_BITS, WHO_BITS)
    }

    pub(crate) fn lane(self) -> u32 {
        self.field(MASK_BITS + TIME_BITS, LANE_BITS)
    }

    pub(super) fn time(self) -> u32 {
        self.field(MASK_BITS, TIME_BITS)
    }

    /// The block of the cluster, and its warp.
    pub(crate) fn place(self) -> (u32, u32) {
        super::clock::place_of(self.who())
    }

    /// Whether it is a copy and no warp.
    pub(crate) fn is_copy(self) -> bool {
        !super::clock::is_warp(self.who())
    }

    fn is_strong(self) -> bool {
        self.field(MASK_BITS + TIME_BITS + LANE_BITS + WHO_BITS, 1) != 0
    }

    /// Whether it and a later one of another cluster are strong.
    fn is_strong_beside(self, later: Stamp) -> bool {
        self != Stamp::NOBODY
            && self != Stamp::SPLIT
            && self.is_strong()
            && later.is_strong()
            && self.cluster() != later.cluster()
    }

    /// Whether it is of another cluster than a later access to bytes, and shares some; strong accesses do not meet each other.
    fn meets(self, later: Stamp, bytes: u64) -> bool {
        self != Stamp::NOBODY
            && self != Stamp::SPLIT
            && later != Stamp::NOBODY
            && self.bytes() & bytes != 0
            && self.cluster() != later.cluster()
            && !(self.is_strong() && later.is_strong())
    }
}

/// What is known of a word, or of one byte of it: who wrote it last, two clusters that read it since, and their instructions.
#[derive(Debug, Default)]
struct Cell {
    write: AtomicU64,
    reads: [AtomicU64; 2],
    write_pc: AtomicU32,
    read_pcs: [AtomicU32; 2],
}

type Page = [Cell; WORDS];

/// What is known of one allocation.
#[derive(Debug)]
struct Area {
    pages: Box<[OnceLock<Box<Page>>]>,
    /// The bytes of split words, by number of the word.
    split: Mutex<HashMap<usize, Box<[Cell; 4]>>>,
}

/// What is known of the global memory of a launch with several clusters.
#[derive(Debug)]
pub(crate) struct Across {
    areas: Vec<OnceLock<Area>>,
}

/// An access that no other cluster may meet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meeting {
    /// The stamp of the warp's lane 0, or of an operation of one thread.
    pub(crate) stamp: Stamp,
    /// Each lane accesses for itself.
    pub(crate) by_lane: bool,
    pub(crate) pc: u32,
    pub(crate) writes: bool,
}

impl Meeting {
    fn stamp(&self, lane: usize) -> Stamp {
        if self.by_lane { self.stamp.of_lane(lane) } else { self.stamp }
    }
}

/// An access of another cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Other {
    pub(crate) stamp: Stamp,
    pub(crate) pc: u32,
    pub(crate) wrote: bool,
}

impl Across {
    /// For a launch with so many allocations.
    pub(crate) fn new(allocations: usize) -> Across {
        let mut areas = Vec::new();
        areas.resize_with(allocations, OnceLock::new);
        Across { areas }
    }

    /// The first write to bytes of an allocation of which `wanted` says so, and its instruction.
    pub(crate) fn writer(
        &self,
        index: usize,
        (offset, bytes): (u64, u32),
        wanted: impl Fn(Stamp) -> bool,
    ) -> Option<Other> {
        let mut found = None;
        self.areas[index].get()?.each_word(offset, bytes, |cell, _, _| {
            let stamp = Stamp(cell.write.load(Relaxed));
            let somebody = stamp != Stamp::NOBODY && stamp != Stamp::SPLIT;
            if found.is_none() && somebody && wanted(stamp) {
                found = Some(Other { stamp, pc: cell.write_pc.load(Relaxed), wrote: true });
            }
        });
        found
    }

    /// The different last writes to bytes of an allocation, and their instructions.
    pub(crate) fn writers(&self, index: usize, (offset, bytes): (u64, u32)) -> Vec<Other> {
        let mut found: Vec<Other> = Vec::new();
        let Some(area) = self.areas[index].get() else { return found };
        area.each_word(offset, bytes, |cell, _, _| {
            let stamp = Stamp(cell.write.load(Relaxed));
            let somebody = stamp != Stamp::NOBODY && stamp != Stamp::SPLIT;
            let other = Other { stamp, pc: cell.write_pc.load(Relaxed), wrote: true };
            if somebody && found.last() != Some(&other) {
                found.push(other);
            }
        });
        found
    }

    /// Lanes of a mask access `bytes` bytes each of an allocation. The first lane that meets an access of another cluster which its warp does not
    /// know of, and that access.
    pub(crate) fn access(
        &self,
        (index, memory): (usize, &Allocation),
        (offsets, bytes, mask): (&Doubles, u32, u32),
        meeting: Meeting,
        knows: impl Fn(usize, Stamp) -> bool,
    ) -> Option<(usize, Other)> {
        let area = &self.areas[index];
        let new = || Area {
            pages: std::iter::repeat_with(OnceLock::new)
                .take(usize::try_from(memory.bytes.div_ceil(BYTES)).expect("the host holds it"))
                .collect(),
            split: Mutex::default(),
        };
        let area = area.get().unwrap_or_else(|| area.get_or_init(new));
        let mut found = None;
        let mut judge = |lane: usize, other: Other| {
            if found.is_none() && !knows(lane, other.stamp) {
                found = Some((lane, other));
            }
        };
        if meeting.writes {
            for lane in lanes(mask) {
                let stamp = meeting.stamp(lane);
                area.each_word(offsets[lane], bytes, |cell, index, bytes| {
                    area.write((cell, index), (stamp, bytes), meeting.pc, |other| {
                        judge(lane, other);
                    });
                });
            }
            fence(SeqCst);
            for lane in lanes(mask) {
                let stamp = meeting.stamp(lane);
                area.each_word(offsets[lane], bytes, |cell, _, bytes| {
                    cell.take_readers((stamp, bytes), |other| judge(lane, other));
                });
            }
        } else {
            for lane in lanes(mask) {
                let stamp = meeting.stamp(lane);
                area.each_word(offsets[lane], bytes, |cell, _, bytes| {
                    cell.note_read(stamp.with_bytes(bytes), meeting.pc);
                });
            }
            fence(SeqCst);
            for lane in lanes(mask) {
                let stamp = meeting.stamp(lane);
                area.each_word(offsets[lane], bytes, |cell, index, bytes| {
                    area.writers((cell, index), (stamp, bytes), |other| judge(lane, other));
                });
            }
        }
        found
    }
}

impl Cell {
    /// A cluster reads. A third one is not remembered.
    #[inline]
    fn note_read(&self, stamp: Stamp, pc: u32) {
        if stamp == Stamp::NOBODY {
            return;
        }
        for (read, read_pc) in self.reads.iter().zip(&self.read_pcs) {
            let before = Stamp(read.load(Relaxed));
            if before == stamp {
                return;
            }
            if before == Stamp::NOBODY || before.cluster() == stamp.cluster() {
                let bytes = if alike(before, stamp) { before.bytes() } else { 0 };
                read.store(stamp.0 | bytes, Relaxed);
                read_pc.store(pc, Relaxed);
                return;
            }
        }
    }

    /// The writer, where it is of another cluster and shares bytes.
    #[inline]
    fn writer(&self, (stamp, bytes): (Stamp, u64)) -> Option<Other> {
        let writer = Stamp(self.write.load(Relaxed));
        let pc = self.write_pc.load(Relaxed);
        writer.meets(stamp, bytes).then_some(Other { stamp: writer, pc, wrote: true })
    }

    /// Takes the readers away, behind whom a write comes, and gives those of other clusters that share bytes.
    #[inline]
    fn take_readers(&self, (stamp, bytes): (Stamp, u64), mut each: impl FnMut(Other)) {
        for (read, read_pc) in self.reads.iter().zip(&self.read_pcs) {
            let reader = Stamp(read.load(Relaxed));
            // Strong accesses stay behind a strong write: weak ones that follow race with them.
            if reader == Stamp::NOBODY
                || reader.bytes() & bytes == 0
                || reader.is_strong_beside(stamp)
            {
                continue;
            }
            read.store(0, Relaxed);
            if reader.meets(stamp, bytes) {
                each(Other { stamp: reader, pc: read_pc.load(Relaxed), wrote: false });
            }
        }
    }
}

#[cold]
fn new_page() -> Box<Page> {
    let cells: Box<[Cell]> = std::iter::repeat_with(Cell::default).take(WORDS).collect();
    cells.try_into().expect("a page has so many words")
}

impl Area {
    /// Does something for each word of an access: its cell, its number, and the bytes of it as a mask.
    #[inline]
    fn each_word(&self, offset: u64, bytes: u32, mut what: impl FnMut(&Cell, usize, u64)) {
        let offset = usize::try_from(offset).expect("the host holds the allocation");
        let page = &self.pages[offset / (4 * WORDS)];
        let page = page.get().unwrap_or_else(|| page.get_or_init(new_page));
        if bytes < 4 {
            let mask = ((1 << bytes) - 1) << (offset % 4);
            what(&page[offset / 4 % WORDS], offset / 4, mask);
            return;
        }
        for word in offset / 4..offset / 4 + bytes as usize / 4 {
            what(&page[word % WORDS], word, 0xF);
        }
    }

    /// Writes a word, and gives those of other clusters who wrote it before.
    #[inline]
    fn write(
        &self,
        (cell, index): (&Cell, usize),
        (stamp, bytes): (Stamp, u64),
        pc: u32,
        mut each: impl FnMut(Other),
    ) {
        if stamp == Stamp::NOBODY {
            return;
        }
        let apart = |before: Stamp| {
            before != Stamp::NOBODY && before.bytes() & !bytes != 0 && !alike(before, stamp)
        };
        loop {
            let before = Stamp(cell.write.load(Relaxed));
            if before == Stamp::SPLIT || apart(before) {
                self.split(cell, index, |byte, cell| {
                    if bytes >> byte & 1 != 0 {
                        cell.writer((stamp, 1 << byte)).into_iter().for_each(&mut each);
                        cell.write.store(stamp.with_bytes(1 << byte).0, Relaxed);
                        cell.write_pc.store(pc, Relaxed);
                    }
                });
                break;
            }
            let others = if alike(before, stamp) { before.bytes() } else { 0 };
            // A weak access stays one behind a strong one of the same threads.
            let weak = alike(before, stamp) && stamp.is_strong() && !before.is_strong();
            let after = if weak { before } else { stamp }.with_bytes(bytes | others);
            let write_pc = cell.write_pc.load(Relaxed);
            if cell.write.compare_exchange(before.0, after.0, SeqCst, Relaxed).is_ok() {
                cell.write_pc.store(if weak { write_pc } else { pc }, Relaxed);
                // A strong write of another cluster is not forgotten: weak ones that follow race with it.
                if before.is_strong_beside(stamp) {
                    cell.note_read(before, write_pc);
                }
                if before.meets(stamp, bytes) {
                    each(Other { stamp: before, pc: write_pc, wrote: true });
                }
                break;
            }
        }
    }

    /// Gives those of other clusters who wrote bytes of a word.
    #[inline]
    fn writers(
        &self,
        (cell, index): (&Cell, usize),
        (stamp, bytes): (Stamp, u64),
        mut each: impl FnMut(Other),
    ) {
        if cell.write.load(Relaxed) == Stamp::SPLIT.0 {
            self.split(cell, index, |byte, cell| {
                if bytes >> byte & 1 != 0 {
                    cell.writer((stamp, 1 << byte)).into_iter().for_each(&mut each);
                }
            });
        } else {
            cell.writer((stamp, bytes)).into_iter().for_each(each);
        }
    }

    /// Does something with the cells of a word's bytes, which is split for that.
    #[cold]
    fn split(&self, cell: &Cell, index: usize, mut what: impl FnMut(usize, &Cell)) {
        let mut split = self.split.lock().unwrap_or_else(PoisonError::into_inner);
        let cells = split.entry(index).or_insert_with(|| {
            let before = Stamp(cell.write.swap(Stamp::SPLIT.0, Relaxed));
            std::array::from_fn(|byte| {
                let one = Cell::default();
                if before != Stamp::SPLIT && before.bytes() >> byte & 1 != 0 {
                    one.write.store(before.0, Relaxed);
                    one.write_pc.store(cell.write_pc.load(Relaxed), Relaxed);
                }
                one
            })
            .into()
        });
        for (byte, cell) in cells.iter().enumerate() {
            what(byte, cell);
        }
    }
}

/// Whether two accesses are known together.
fn alike(a: Stamp, b: Stamp) -> bool {
    let somebody = a != Stamp::NOBODY && a != Stamp::SPLIT;
    somebody && (a.cluster(), a.who(), a.time()) == (b.cluster(), b.who(), b.time())
}
