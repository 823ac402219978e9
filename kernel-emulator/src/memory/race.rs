//! Races on shared memory: who touched a word last, and whether anything orders that before the next access.
//!
//! Every warp has a vector clock (Mattern 1989): for each warp of the block, how much of it happens before here. Barriers, mbarriers,
//! fences and atomic operations join clocks. Every 4-byte word remembers its last write as an epoch, a lane of a warp and the warp's own
//! clock (Flanagan and Freund, "`FastTrack`", 2009), and every reader since. An access races with an earlier one that does not happen
//! before it.
//!
//! Lanes of one warp are ordered where they meet: at `bar.warp.sync` and every other instruction that waits for lanes (PTX ISA,
//! "bar.warp.sync"), not by running side by side. What one lane hands on or learns, at an mbarrier for instance, the others have no part
//! in until they meet. A warp that its lanes keep together costs no more than one clock.
//!
//! Accesses of one and two bytes mostly cover whole words together with those of the neighbouring lanes, and count as such. Where they
//! do not, the word is split into its bytes ([`Part`]) until all of them agree again, so that two warps may write the two halves of a
//! word.
//!
//! An asynchronous copy whose bytes an mbarrier counts writes as a participant of its own, an agent: from its issue on, until a thread
//! waits on the mbarrier.
//!
//! A store of what another thread stored in the same place is not a race: nothing depends on their order.
//!
//! Not followed: lanes that one instruction at one place has write the same word. Where code synchronises through fences and flags, more
//! is taken as ordered than is.

mod clock;
mod part;
mod readers;
#[cfg(test)]
mod tests;
mod warps;

use clock::agent;
pub(crate) use clock::{Clock, Epoch};
use part::Part;
use readers::Readers;
use warps::Known;
pub(crate) use warps::Threads;

use crate::code::Doubles;
use crate::fault::{By, Earlier};
use crate::machine::warp::{lane_number, lanes};

/// The words of 16 bytes.
type Row<T> = [T; 4];

/// What is known of a block's shared memory.
#[derive(Debug, Default)]
pub(crate) struct Races {
    /// Whether more than one thread is there, and the launch wants to know.
    enabled: bool,
    warps: Vec<Known>,
    /// How many copies of each agent departed.
    agents: Vec<u32>,
    writes: Vec<Row<Epoch>>,
    /// Sets of [`Readers`]; of a split word, the index of its [`Part`].
    reads: Vec<Row<u32>>,
    readers: Readers,
    /// The split words, and which of these places are free.
    parts: Vec<Part>,
    free: Vec<u32>,
    /// What was released by fences and atomic operations.
    released: Clock,
}

/// Two accesses that nothing orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    pub(crate) lane: u32,
    pub(crate) earlier: Earlier,
}

/// Lanes of a warp that execute an instruction which accesses memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Accessor {
    pub(crate) warp: u32,
    pub(crate) pc: u32,
}

/// An earlier access that does not happen before this one, and whether it wrote.
type Unordered = (Epoch, bool);

impl Races {
    /// Forgets everything, for a block of this many warps and bytes.
    pub(crate) fn reset(&mut self, warps: u32, bytes: u32, enabled: bool) {
        self.enabled = enabled && bytes > 0;
        self.released = Clock::default();
        self.agents.clear();
        self.warps.clear();
        if !self.enabled {
            return;
        }
        self.agents.resize(clock::AGENTS, 0);
        self.warps.extend((0..warps).map(Known::new));
        let rows = bytes.div_ceil(16) as usize;
        self.writes.clear();
        self.writes.resize(rows, [Epoch::NONE; 4]);
        self.reads.clear();
        self.reads.resize(rows, [0; 4]);
        self.readers.reset();
        self.parts.clear();
        self.free.clear();
    }

    #[inline]
    pub(crate) fn enabled(&self) -> bool {
        self.enabled
    }

    /// What threads know and did, to be handed on; what they do from here on is not part of it.
    pub(crate) fn release(&mut self, threads: Threads, into: &mut Clock) {
        if self.enabled {
            self.warps[threads.warp as usize].release(threads.mask, into);
        }
    }

    /// Threads learn what was handed on.
    pub(crate) fn acquire(&mut self, threads: Threads, from: &Clock) {
        if self.enabled {
            self.warps[threads.warp as usize].acquire(threads, from);
        }
    }

    /// Threads of a warp wait for one another.
    pub(crate) fn meet(&mut self, threads: Threads) {
        if self.enabled {
            self.warps[threads.warp as usize].meet(threads);
        }
    }

    /// A fence that hands on only.
    pub(crate) fn publish(&mut self, threads: Threads) {
        if self.enabled {
            self.warps[threads.warp as usize].release(threads.mask, &mut self.released);
        }
    }

    /// A fence or an atomic operation: orders with every other one.
    pub(crate) fn fence(&mut self, threads: Threads) {
        self.publish(threads);
        if self.enabled {
            self.warps[threads.warp as usize].acquire(threads, &self.released);
        }
    }

    /// Whether some lane of a warp knows what another warp of the block did at a time on that warp's own clock.
    pub(crate) fn knows(&self, warp: u32, other: u32, time: u32) -> bool {
        !self.enabled || warp == other || self.clock(warp, u32::MAX).reaches(other, time)
    }

    /// A warp's own clock, at which some of its lanes do something that others have to know of; 0 where races are not looked for.
    /// It stands for the same as long as the warp hands nothing on.
    pub(crate) fn time(&mut self, warp: u32, mask: u32) -> u32 {
        if !self.enabled {
            return 0;
        }
        let warp = &mut self.warps[warp as usize];
        warp.act(mask);
        warp.now()
    }

    /// What threads know; nothing where races are not looked for.
    pub(crate) fn clock(&self, warp: u32, mask: u32) -> Clock {
        self.warps.get(warp as usize).map(|known| known.of(mask)).unwrap_or_default()
    }

    /// An asynchronous copy departs, whose bytes the mbarrier at a word of shared memory counts: its epoch.
    pub(crate) fn depart(&mut self, barrier: usize, pc: u32) -> Epoch {
        if !self.enabled {
            return Epoch::NONE;
        }
        let count = &mut self.agents[barrier % clock::AGENTS];
        *count += 1;
        Epoch::new((agent(barrier), 0), 0, (*count, pc))
    }

    /// A copy landed: who waits for its mbarrier knows of it.
    pub(crate) fn arrived(epoch: Epoch, into: &mut Clock) {
        into.learn(epoch.who(), epoch.time());
    }

    /// Whether some lane of a warp knows that an operation on tensor memory is complete.
    pub(crate) fn knows_completed(&self, warp: u32, thread: u32, number: u32) -> bool {
        !self.enabled || self.clock(warp, u32::MAX).knows_completed(thread, number)
    }

    /// Copies that wrote bytes last are no matter for the next one, since both are reductions.
    pub(crate) fn forget_copies(&mut self, offset: u32, bytes: u32) {
        if self.enabled {
            for word in offset as usize / 4..(offset + bytes) as usize / 4 {
                let epoch = &mut self.writes[word / 4][word % 4];
                if epoch.is_copy() {
                    *epoch = Epoch::NONE;
                }
            }
        }
    }

    /// An asynchronous copy is going to write bytes; a lane of the block issued it, or one of another block, of which nothing is known.
    /// Offset and size are multiples of 4.
    pub(crate) fn overwrite(
        &mut self,
        epoch: Epoch,
        issuer: Option<(Accessor, usize)>,
        offset: u32,
        bytes: u32,
    ) -> Result<(), Conflict> {
        if !self.enabled {
            return Ok(());
        }
        let rows = offset as usize / 16..(offset + bytes) as usize / 16;
        let whole = offset.is_multiple_of(16) && bytes.is_multiple_of(16);
        if whole && self.all_known(issuer, rows.clone()) {
            self.writes[rows.clone()].fill([epoch; 4]);
            self.reads[rows].fill([0; 4]);
            return Ok(());
        }
        if let Some((who, lane)) = issuer {
            let mut offsets = [0; crate::code::LANES];
            offsets[lane] = offset.into();
            self.write_words(who, (&offsets, bytes, 1 << lane), 0)?;
        }
        for word in offset / 4..(offset + bytes) / 4 {
            let (row, k) = (word as usize / 4, word as usize % 4);
            if self.writes[row][k] == Epoch::SPLIT {
                self.free.push(self.reads[row][k]);
            }
            self.writes[row][k] = epoch;
            self.reads[row][k] = 0;
        }
        Ok(())
    }

    /// Whether no word of some rows is split, and the issuer of a copy knows of every access to them.
    fn all_known(
        &self,
        issuer: Option<(Accessor, usize)>,
        mut rows: std::ops::Range<usize>,
    ) -> bool {
        let now = issuer.map(|(who, lane)| {
            let known = &self.warps[who.warp as usize];
            (known, Epoch::new((who.warp, lane), 0, (known.now(), who.pc)))
        });
        let (mut fine, mut unread) = (Epoch::NONE, 0);
        rows.all(|row| {
            let (write, set) = (self.writes[row][0], self.reads[row][0]);
            if self.writes[row] != [write; 4]
                || write == Epoch::SPLIT
                || self.reads[row] != [set; 4]
            {
                return false;
            }
            let seen = (write, set) == (fine, unread)
                || now.is_none_or(|(known, now)| {
                    known.ordered(now, write) && self.readers.unordered(set, known, now).is_none()
                });
            (fine, unread) = (write, set);
            seen
        })
    }

    /// A warp reads `bytes` bytes of each lane.
    #[inline]
    pub(crate) fn read(
        &mut self,
        who: Accessor,
        offsets: &Doubles,
        bytes: u32,
        mask: u32,
    ) -> Result<(), Conflict> {
        self.warps[who.warp as usize].act(mask);
        if bytes >= 4 {
            return self.read_words(who, (offsets, bytes, mask), 0);
        }
        let (whole, rest) = whole_words(offsets, bytes, mask);
        self.read_words(who, (offsets, 4, whole), shared_by(bytes))?;
        self.parts(who, (offsets, bytes, rest), Part::read)
    }

    /// A lane reads units of 16 bytes. Nothing where no races are looked for.
    pub(crate) fn read_units(
        &mut self,
        who: Accessor,
        lane: usize,
        units: &[u32],
    ) -> Result<(), Conflict> {
        if !self.enabled {
            return Ok(());
        }
        if self.readers.many() {
            self.collect();
        }
        self.warps[who.warp as usize].act(1 << lane);
        let known = &self.warps[who.warp as usize];
        let now = Epoch::new((who.warp, lane), 0, (known.now(), who.pc));
        let mut offsets = [0; crate::code::LANES];
        let (mut fine, mut read) = (Epoch::NONE, (u32::MAX, 0));
        for &unit in units {
            // The common case: all four words have one writer, who is known, and the same readers.
            let (writes, reads) = (&self.writes[unit as usize], &mut self.reads[unit as usize]);
            let (write, set) = (writes[0], reads[0]);
            if *writes == [write; 4] && write != Epoch::SPLIT && *reads == [set; 4] {
                let known = &self.warps[who.warp as usize];
                if write == fine || known.ordered(now, write) {
                    fine = write;
                    if read.0 != set {
                        read = (set, self.readers.with(set, now, known));
                    }
                    *reads = [read.1; 4];
                    continue;
                }
            }
            offsets[lane] = 16 * u64::from(unit);
            self.read_words(who, (&offsets, 16, 1 << lane), 0)?;
        }
        Ok(())
    }

    /// A warp writes `bytes` bytes of each lane.
    #[inline]
    pub(crate) fn write(
        &mut self,
        who: Accessor,
        offsets: &Doubles,
        bytes: u32,
        mask: u32,
    ) -> Result<(), Conflict> {
        self.warps[who.warp as usize].act(mask);
        if bytes >= 4 {
            return self.write_words(who, (offsets, bytes, mask), 0);
        }
        let (whole, rest) = whole_words(offsets, bytes, mask);
        self.write_words(who, (offsets, 4, whole), shared_by(bytes))?;
        self.parts(who, (offsets, bytes, rest), Part::write)
    }

    fn read_words(&mut self, who: Accessor, words: Lanes<'_>, group: u32) -> Result<(), Conflict> {
        if self.readers.many() {
            self.collect();
        }
        let time = self.warps[who.warp as usize].now();
        each_row(words, |lane, row, words| {
            let now = Epoch::new((who.warp, lane), group, (time, who.pc));
            // The epoch and the set seen last, the one found to be ordered, and what the other becomes.
            let (mut fine, mut read) = (Epoch::NONE, (u32::MAX, 0));
            for k in words {
                let epoch = self.writes[row][k];
                if epoch != fine {
                    if epoch == Epoch::SPLIT {
                        self.part(now, (row, k), 0..4, Part::read)?;
                        continue;
                    }
                    if !self.warps[who.warp as usize].ordered(now, epoch) {
                        return Err((epoch, true));
                    }
                    fine = epoch;
                }
                let set = self.reads[row][k];
                if read.0 != set {
                    read = (set, self.readers.with(set, now, &self.warps[who.warp as usize]));
                }
                self.reads[row][k] = read.1;
            }
            Ok(())
        })
    }

    fn write_words(&mut self, who: Accessor, words: Lanes<'_>, group: u32) -> Result<(), Conflict> {
        let time = self.warps[who.warp as usize].now();
        each_row(words, |lane, row, words| {
            let now = Epoch::new((who.warp, lane), group, (time, who.pc));
            let (mut fine, mut unread) = (Epoch::NONE, 0);
            for k in words {
                let epoch = self.writes[row][k];
                if epoch == Epoch::SPLIT {
                    self.part(now, (row, k), 0..4, Part::write)?;
                    continue;
                }
                let known = &self.warps[who.warp as usize];
                if epoch != fine {
                    if !known.ordered(now, epoch) && !epoch.beside(now) {
                        return Err((epoch, true));
                    }
                    fine = epoch;
                }
                self.writes[row][k] = now;
                let set = self.reads[row][k];
                if set != unread {
                    if let Some(reader) = self.readers.unordered(set, known, now) {
                        return Err((reader, false));
                    }
                    unread = set;
                }
                self.reads[row][k] = 0;
            }
            Ok(())
        })
    }

    /// Accesses of one or two bytes that cover no whole word.
    fn parts(
        &mut self,
        who: Accessor,
        (offsets, bytes, mask): Lanes<'_>,
        access: Access,
    ) -> Result<(), Conflict> {
        let time = self.warps[who.warp as usize].now();
        for lane in lanes(mask) {
            let (row, k, _) = span(offsets[lane], bytes);
            let first = (offsets[lane] % 4) as usize;
            let now = Epoch::new((who.warp, lane), 0, (time, who.pc));
            self.part(now, (row, k), first..first + bytes as usize, access)
                .map_err(|earlier| conflict(lane, earlier))?;
        }
        Ok(())
    }

    /// An access to bytes of one word, which is split for that, and whole again if its bytes agree.
    fn part(
        &mut self,
        now: Epoch,
        (row, k): (usize, usize),
        bytes: part::Span,
        access: Access,
    ) -> Result<(), Unordered> {
        if self.writes[row][k] != Epoch::SPLIT {
            let part = Part::of(self.writes[row][k], self.reads[row][k]);
            let index = self.free.pop().unwrap_or_else(|| {
                self.parts.push(Part::default());
                u32::try_from(self.parts.len() - 1).expect("shared memory is small")
            });
            self.parts[index as usize] = part;
            (self.writes[row][k], self.reads[row][k]) = (Epoch::SPLIT, index);
        }
        let index = self.reads[row][k];
        let part = &mut self.parts[index as usize];
        access(part, (&self.warps[now.who() as usize], &mut self.readers), now, bytes)?;
        if let Some(whole) = part.whole() {
            (self.writes[row][k], self.reads[row][k]) = whole;
            self.free.push(index);
        }
        Ok(())
    }

    /// Removes the sets of readers that no word has.
    #[cold]
    fn collect(&mut self) {
        let split = |row: &Row<Epoch>, k: usize| row[k] == Epoch::SPLIT;
        for index in &self.free {
            self.parts[*index as usize] = Part::default();
        }
        let words = self.writes.iter().zip(&mut self.reads).flat_map(|(writes, reads)| {
            reads.iter_mut().enumerate().filter(|(k, _)| !split(writes, *k)).map(|(_, set)| set)
        });
        self.readers.collect(words.chain(self.parts.iter_mut().flat_map(Part::reads)));
    }
}

/// Where the lanes of a mask access as many bytes each: offsets, bytes, mask.
type Lanes<'a> = (&'a Doubles, u32, u32);

/// What a warp does to bytes of a word: [`Part::read`] or [`Part::write`].
type Access = fn(&mut Part, (&Known, &mut Readers), Epoch, part::Span) -> Result<(), Unordered>;

/// Does something for the whole words of an access, row by row.
#[inline]
fn each_row(
    (offsets, bytes, mask): Lanes<'_>,
    mut words: impl FnMut(usize, usize, part::Span) -> Result<(), Unordered>,
) -> Result<(), Conflict> {
    for lane in lanes(mask) {
        let (mut row, mut first, mut left) = span(offsets[lane], bytes);
        while left > 0 {
            let here = left.min(4 - first);
            words(lane, row, first..first + here).map_err(|earlier| conflict(lane, earlier))?;
            (row, first, left) = (row + 1, 0, left - here);
        }
    }
    Ok(())
}

/// How many lanes share a word of accesses of one or two bytes, as a power of two.
const fn shared_by(bytes: u32) -> u32 {
    (4 / bytes).trailing_zeros()
}

/// Of accesses of one or two bytes: the lanes with which whole words begin that they and their
/// neighbours cover, and the lanes that belong to no such word.
fn whole_words(offsets: &Doubles, bytes: u32, mask: u32) -> (u32, u32) {
    let group = (4 / bytes) as usize;
    let members = u32::MAX >> (32 - group);
    let (mut whole, mut rest) = (0, mask);
    for (i, offsets) in offsets.chunks_exact(group).enumerate() {
        let first = offsets[0];
        let in_order =
            (first..).step_by(bytes as usize).zip(offsets).all(|(at, offset)| at == *offset);
        let lanes = members << (i * group);
        if in_order && first % 4 == 0 && mask & lanes == lanes {
            whole |= 1 << (i * group);
            rest &= !lanes;
        }
    }
    (whole, rest)
}

/// The row, the first word in it, and the number of words of an access.
#[inline]
fn span(offset: u64, bytes: u32) -> (usize, usize, usize) {
    let offset = usize::try_from(offset).expect("shared memory is small");
    (offset / 16, offset / 4 % 4, bytes as usize / 4)
}

#[cold]
fn conflict(lane: usize, (epoch, wrote): Unordered) -> Conflict {
    let by = if epoch.is_copy() {
        By::Copy
    } else {
        By::Lane { warp: epoch.who(), lane: lane_number(epoch.lane()) }
    };
    let earlier = Earlier { pc: epoch.pc(), by, wrote };
    Conflict { lane: lane_number(lane), earlier }
}
