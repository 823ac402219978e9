//! Races on shared memory: which warp touched a word last, and whether a barrier is between.
//!
//! Every warp has a vector clock (Mattern 1989): for each warp of the block, how much of it happens
//! before here. Barriers, mbarriers, fences and atomic operations join clocks. Every 4-byte word
//! remembers its last write and its last two readers as an epoch, a warp and its own clock (Flanagan
//! and Freund, "`FastTrack`", 2009). An access races with an earlier one of another warp that does
//! not happen before it.
//!
//! Accesses of one and two bytes mostly cover whole words together with those of the neighbouring
//! lanes, and count as such. Where they do not, the word is split into its bytes ([`Part`]) until all
//! of them agree again, so that two warps may write the two halves of a word.
//!
//! An asynchronous copy whose bytes an mbarrier counts writes as a participant of its own, an agent: from
//! its issue on, until a thread waits on the mbarrier.
//!
//! A store of what another warp stored in the same place is not a race: nothing depends on their order.
//!
//! Not followed: lanes of one warp against each other, and a reader of whom two later ones are known.
//! Where code synchronises through fences and flags, more is taken as ordered than is.

mod part;
#[cfg(test)]
mod tests;

use part::{Earlier, Part};

use crate::code::Doubles;
use crate::machine::warp::lanes;

/// The most warps of a block.
const WARPS: usize = 32;
/// Those who write besides the warps: the asynchronous copies that one mbarrier counts the bytes of. Blocks
/// with more mbarriers share them.
const AGENTS: usize = 32;
/// Threads whose operations on tensor memory count as participants; those of further ones share them.
const TENSORS: usize = 16;
/// Bits of the clock in an epoch; the rest is the warp, or after the warps the agent.
const CLOCK_BITS: u32 = 26;

/// A vector clock: of every warp and agent, how much of it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Clock([u32; WARPS + AGENTS + TENSORS]);

impl Default for Clock {
    fn default() -> Clock {
        Clock([0; WARPS + AGENTS + TENSORS])
    }
}

impl std::ops::Index<usize> for Clock {
    type Output = u32;

    fn index(&self, index: usize) -> &u32 {
        &self.0[index]
    }
}

impl std::ops::IndexMut<usize> for Clock {
    fn index_mut(&mut self, index: usize) -> &mut u32 {
        &mut self.0[index]
    }
}

/// The epochs of 16 bytes, word by word; 0 is none.
type Row = [u32; 4];

/// In place of the last write: the word is split, and its last reader is the index of its [`Part`].
const SPLIT: u32 = u32::MAX;

/// Places of the two instructions that are known of a row.
const WROTE: usize = 0;
const READ: usize = 1;

/// What is known of a block's shared memory.
#[derive(Debug, Default)]
pub(crate) struct Races {
    /// Whether more than one warp is there, and the launch wants to know.
    enabled: bool,
    clocks: Vec<Clock>,
    /// How many copies of each agent departed.
    agents: [u32; AGENTS],
    writes: Vec<Row>,
    reads: [Vec<Row>; 2],
    /// The instructions of the last write and of the last read of each row.
    sources: Vec<[u32; 2]>,
    /// The split words, and which of these places are free.
    parts: Vec<Part>,
    free: Vec<u32>,
    /// What was released by fences and atomic operations.
    released: Clock,
}

/// Two accesses without a barrier between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    pub(crate) lane: u32,
    /// The earlier access.
    pub(crate) warp: u32,
    pub(crate) pc: u32,
    pub(crate) wrote: bool,
}

/// What the clock of `to` learns from `from`.
pub(crate) fn join(to: &mut Clock, from: &Clock) {
    for (to, from) in to.0.iter_mut().zip(&from.0) {
        *to = (*to).max(*from);
    }
}

const fn warp_of(epoch: u32) -> u32 {
    epoch >> CLOCK_BITS
}

const fn time_of(epoch: u32) -> u32 {
    epoch & ((1 << CLOCK_BITS) - 1)
}

impl Races {
    /// Forgets everything, for a block of this many warps and bytes.
    pub(crate) fn reset(&mut self, warps: usize, bytes: u32, enabled: bool) {
        self.enabled = enabled && warps > 1 && bytes > 0;
        self.released = Clock::default();
        self.agents = [0; AGENTS];
        self.clocks.clear();
        if !self.enabled {
            return;
        }
        for warp in 0..warps {
            let mut clock = Clock::default();
            clock[warp] = 1;
            self.clocks.push(clock);
        }
        let rows = bytes.div_ceil(16) as usize;
        for list in std::iter::once(&mut self.writes).chain(&mut self.reads) {
            list.clear();
            list.resize(rows, [0; 4]);
        }
        self.sources.clear();
        self.sources.resize(rows, [0; 2]);
        self.parts.clear();
        self.free.clear();
    }

    #[inline]
    pub(crate) fn enabled(&self) -> bool {
        self.enabled
    }

    /// What a warp knows, to be handed on; what it does from here on is not part of it.
    pub(crate) fn release(&mut self, warp: u32, into: &mut Clock) {
        if self.enabled {
            let clock = &mut self.clocks[warp as usize];
            join(into, clock);
            clock[warp as usize] += 1;
        }
    }

    /// A warp learns what was handed on.
    pub(crate) fn acquire(&mut self, warp: u32, from: &Clock) {
        if self.enabled {
            join(&mut self.clocks[warp as usize], from);
        }
    }

    /// A fence that hands on only.
    pub(crate) fn publish(&mut self, warp: u32) {
        let mut released = self.released;
        self.release(warp, &mut released);
        self.released = released;
    }

    /// A fence or an atomic operation: orders with every other one.
    pub(crate) fn fence(&mut self, warp: u32) {
        if self.enabled {
            self.publish(warp);
            let released = self.released;
            self.acquire(warp, &released);
        }
    }

    /// A warp's time; it stands for the same as long as the warp hands nothing on.
    pub(crate) fn epoch_of(&self, warp: u32) -> u32 {
        if self.enabled { self.epoch(warp) } else { 0 }
    }

    fn epoch(&self, warp: u32) -> u32 {
        warp << CLOCK_BITS | self.clocks[warp as usize][warp as usize]
    }

    /// Whether a warp knows what another warp of the block did up to a time on that warp's own clock.
    pub(crate) fn knows(&self, warp: u32, other: u32, time: u32) -> bool {
        !self.enabled || warp == other || self.clocks[warp as usize][other as usize] >= time
    }

    /// A warp's own clock; 0 where races are not looked for.
    pub(crate) fn time(&self, warp: u32) -> u32 {
        if self.enabled { self.clocks[warp as usize][warp as usize] } else { 0 }
    }

    /// What a warp knows; nothing where races are not looked for.
    pub(crate) fn clock(&self, warp: u32) -> Clock {
        self.clocks.get(warp as usize).copied().unwrap_or_default()
    }

    /// An asynchronous copy departs, whose bytes the mbarrier at a word of shared memory counts: its epoch.
    pub(crate) fn depart(&mut self, barrier: usize) -> u32 {
        let agent = barrier % AGENTS;
        self.agents[agent] += 1;
        u32::try_from(WARPS + agent).expect("few agents") << CLOCK_BITS | self.agents[agent]
    }

    /// Whether the number of an earlier access is not that of a warp but of asynchronous copies.
    pub(crate) const fn is_copy(warp: u32) -> bool {
        warp as usize >= WARPS
    }

    /// A copy landed: who waits for its mbarrier knows of it.
    pub(crate) fn arrived(epoch: u32, into: &mut Clock) {
        let known = &mut into[warp_of(epoch) as usize];
        *known = time_of(epoch).max(*known);
    }

    /// Operations on tensor memory up to a number, of a thread with an index, are complete: who learns of `into` knows.
    pub(crate) fn completed(thread: u32, number: u32, into: &mut Clock) {
        let known = &mut into[WARPS + AGENTS + thread as usize % TENSORS];
        *known = number.max(*known);
    }

    /// Whether a clock knows that an operation on tensor memory is complete.
    pub(crate) fn holds_completed(clock: &Clock, thread: u32, number: u32) -> bool {
        clock[WARPS + AGENTS + thread as usize % TENSORS] >= number
    }

    /// Whether a warp knows that an operation on tensor memory is complete.
    pub(crate) fn knows_completed(&self, warp: u32, thread: u32, number: u32) -> bool {
        let index = WARPS + AGENTS + thread as usize % TENSORS;
        !self.enabled || self.clocks[warp as usize][index] >= number
    }

    /// Copies that wrote bytes last are no matter for the next one, since both are reductions.
    pub(crate) fn meet(&mut self, offset: u32, bytes: u32) {
        if self.enabled {
            for word in offset as usize / 4..(offset + bytes) as usize / 4 {
                let epoch = &mut self.writes[word / 4][word % 4];
                if *epoch != SPLIT && Races::is_copy(warp_of(*epoch)) {
                    *epoch = 0;
                }
            }
        }
    }

    /// An asynchronous copy is going to write bytes; a warp of the block issued it, or one of another
    /// block, of which nothing is known. Offset and size are multiples of 4.
    pub(crate) fn overwrite(
        &mut self,
        epoch: u32,
        (issuer, pc): (Option<u32>, u32),
        offset: u32,
        bytes: u32,
    ) -> Result<(), Conflict> {
        if !self.enabled {
            return Ok(());
        }
        // Rows that race with no access, one after another.
        let rows = offset.div_ceil(16) as usize..((offset + bytes) / 16) as usize;
        let mut fine = [0; 3];
        let mut free = |row: usize| {
            let epochs = [self.writes[row], self.reads[0][row], self.reads[1][row]];
            epochs.iter().zip(&mut fine).all(|(epochs, fine)| {
                let first = epochs[0];
                let known = first == *fine
                    || first != SPLIT
                        && issuer.is_none_or(|warp| {
                            !unordered(&self.clocks[warp as usize], warp, first)
                        });
                if known && *epochs == [first; 4] {
                    *fine = first;
                }
                known && *epochs == [first; 4]
            })
        };
        if offset.is_multiple_of(16) && bytes.is_multiple_of(16) && rows.clone().all(&mut free) {
            self.writes[rows.clone()].fill([epoch; 4]);
            for reads in &mut self.reads {
                reads[rows.clone()].fill([0; 4]);
            }
            for sources in &mut self.sources[rows] {
                sources[WROTE] = pc;
            }
            return Ok(());
        }
        if let Some(warp) = issuer {
            let mut offsets = [0; crate::code::LANES];
            offsets[0] = offset.into();
            self.write_words((warp, pc), (&offsets, bytes, 1))?;
        }
        for word in offset / 4..(offset + bytes) / 4 {
            let (row, k) = (word as usize / 4, word as usize % 4);
            let [recent, older] = &mut self.reads;
            if self.writes[row][k] == SPLIT {
                self.free.push(recent[row][k]);
            }
            self.writes[row][k] = epoch;
            (recent[row][k], older[row][k]) = (0, 0);
            self.sources[row][WROTE] = pc;
        }
        Ok(())
    }

    /// A warp reads `bytes` bytes of each lane.
    #[inline]
    pub(crate) fn read(
        &mut self,
        (warp, pc): (u32, u32),
        offsets: &Doubles,
        bytes: u32,
        mask: u32,
    ) -> Result<(), Conflict> {
        if bytes >= 4 {
            return self.read_words((warp, pc), (offsets, bytes, mask));
        }
        let (whole, rest) = whole_words(offsets, bytes, mask);
        self.read_words((warp, pc), (offsets, 4, whole))?;
        self.parts((warp, pc), (offsets, bytes, rest), Part::read)
    }

    /// A warp reads units of 16 bytes. Nothing where no races are looked for.
    pub(crate) fn read_units(
        &mut self,
        (warp, pc): (u32, u32),
        units: &[u32],
    ) -> Result<(), Conflict> {
        if !self.enabled {
            return Ok(());
        }
        let now = self.epoch(warp);
        for &unit in units {
            let row = unit as usize;
            // The common case: one warp wrote all four words, or a copy did, and the order is known.
            let writes = self.writes[row];
            let first = writes[0];
            if writes == [first; 4]
                && first != SPLIT
                && !unordered(&self.clocks[warp as usize], warp, first)
            {
                let [recent, older] = &mut self.reads;
                let last = recent[row];
                if last != [now; 4] {
                    for (older, last) in older[row].iter_mut().zip(last) {
                        if warp_of(last) != warp {
                            *older = last;
                        }
                    }
                    recent[row] = [now; 4];
                }
                self.sources[row][READ] = pc;
                continue;
            }
            let mut offsets = [0; crate::code::LANES];
            offsets[0] = 16 * u64::from(unit);
            self.read_words((warp, pc), (&offsets, 16, 1))?;
        }
        Ok(())
    }

    /// A warp writes `bytes` bytes of each lane.
    #[inline]
    pub(crate) fn write(
        &mut self,
        (warp, pc): (u32, u32),
        offsets: &Doubles,
        bytes: u32,
        mask: u32,
    ) -> Result<(), Conflict> {
        if bytes >= 4 {
            return self.write_words((warp, pc), (offsets, bytes, mask));
        }
        let (whole, rest) = whole_words(offsets, bytes, mask);
        self.write_words((warp, pc), (offsets, 4, whole))?;
        self.parts((warp, pc), (offsets, bytes, rest), Part::write)
    }

    fn read_words(&mut self, (warp, pc): (u32, u32), words: Lanes<'_>) -> Result<(), Conflict> {
        let now = self.epoch(warp);
        // The epoch seen last, and found to be ordered.
        let mut fine = 0;
        self.each_row(words, (READ, pc), |races, row, words| {
            for k in words {
                let epoch = races.writes[row][k];
                if epoch != fine {
                    if epoch == SPLIT {
                        races.part((now, pc), (row, k), 0..4, Part::read)?;
                        continue;
                    }
                    if unordered(&races.clocks[warp as usize], warp, epoch) {
                        return Err((epoch, races.sources[row][WROTE], true));
                    }
                    fine = epoch;
                }
                let [recent, older] = &mut races.reads;
                let last = recent[row][k];
                if last != now {
                    if warp_of(last) != warp {
                        older[row][k] = last;
                    }
                    recent[row][k] = now;
                }
            }
            Ok(())
        })
    }

    fn write_words(&mut self, (warp, pc): (u32, u32), words: Lanes<'_>) -> Result<(), Conflict> {
        let now = self.epoch(warp);
        self.each_row(words, (WROTE, pc), |races, row, words| {
            for k in words {
                let epoch = races.writes[row][k];
                if epoch == SPLIT {
                    races.part((now, pc), (row, k), 0..4, Part::write)?;
                    continue;
                }
                let clock = &races.clocks[warp as usize];
                if epoch != now {
                    if unordered(clock, warp, epoch) {
                        return Err((epoch, races.sources[row][WROTE], true));
                    }
                    races.writes[row][k] = now;
                }
                for reads in &mut races.reads {
                    let epoch = reads[row][k];
                    if epoch == 0 {
                        continue;
                    }
                    if unordered(clock, warp, epoch) {
                        return Err((epoch, races.sources[row][READ], false));
                    }
                    reads[row][k] = 0;
                }
            }
            Ok(())
        })
    }

    /// Does something for the whole words of an access, row by row, and notes the instruction as the last of its kind in each row.
    #[inline]
    fn each_row(
        &mut self,
        (offsets, bytes, mask): Lanes<'_>,
        (kind, pc): (usize, u32),
        mut words: impl FnMut(&mut Races, usize, part::Span) -> Result<(), Earlier>,
    ) -> Result<(), Conflict> {
        for lane in lanes(mask) {
            let (mut row, mut first, mut left) = span(offsets[lane], bytes);
            while left > 0 {
                let here = left.min(4 - first);
                words(self, row, first..first + here).map_err(|earlier| conflict(lane, earlier))?;
                self.sources[row][kind] = pc;
                (row, first, left) = (row + 1, 0, left - here);
            }
        }
        Ok(())
    }

    /// Accesses of one or two bytes that cover no whole word.
    fn parts(
        &mut self,
        (warp, pc): (u32, u32),
        (offsets, bytes, mask): Lanes<'_>,
        access: Access,
    ) -> Result<(), Conflict> {
        let now = self.epoch(warp);
        for lane in lanes(mask) {
            let (row, k, _) = span(offsets[lane], bytes);
            let first = (offsets[lane] % 4) as usize;
            self.part((now, pc), (row, k), first..first + bytes as usize, access)
                .map_err(|earlier| conflict(lane, earlier))?;
        }
        Ok(())
    }

    /// An access to bytes of one word, which is split for that, and whole again if its bytes agree.
    fn part(
        &mut self,
        (now, pc): (u32, u32),
        (row, k): (usize, usize),
        bytes: part::Span,
        access: Access,
    ) -> Result<(), Earlier> {
        let [recent, older] = &mut self.reads;
        if self.writes[row][k] != SPLIT {
            let reads = [recent[row][k], older[row][k]];
            let part = Part::of(self.writes[row][k], reads, self.sources[row]);
            let index = self.free.pop().unwrap_or_else(|| {
                self.parts.push(Part::default());
                u32::try_from(self.parts.len() - 1).expect("shared memory is small")
            });
            self.parts[index as usize] = part;
            (self.writes[row][k], recent[row][k]) = (SPLIT, index);
        }
        let index = recent[row][k];
        let part = &mut self.parts[index as usize];
        access(part, &self.clocks[warp_of(now) as usize], (now, pc), bytes)?;
        if let Some((write, reads)) = part.whole() {
            (self.writes[row][k], [recent[row][k], older[row][k]]) = (write, reads);
            // The row's other words have had accesses of their own: none of theirs is forgotten.
            for ((to, from), epoch) in
                self.sources[row].iter_mut().zip(part.sources()).zip([write, reads[0] | reads[1]])
            {
                if epoch != 0 {
                    *to = from;
                }
            }
            self.free.push(index);
        }
        Ok(())
    }
}

/// Where the lanes of a mask access as many bytes each: offsets, bytes, mask.
type Lanes<'a> = (&'a Doubles, u32, u32);

/// What a warp does to bytes of a word: [`Part::read`] or [`Part::write`].
type Access = fn(&mut Part, &Clock, (u32, u32), part::Span) -> Result<(), Earlier>;

/// Whether an earlier access does not happen before the warp's next.
#[inline]
fn unordered(clock: &Clock, warp: u32, epoch: u32) -> bool {
    epoch != 0 && warp_of(epoch) != warp && time_of(epoch) > clock[warp_of(epoch) as usize]
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
fn conflict(lane: usize, (epoch, pc, wrote): Earlier) -> Conflict {
    Conflict { lane: crate::machine::warp::lane_number(lane), warp: warp_of(epoch), pc, wrote }
}
