//! One instruction's accesses to the shared memory of a block, or to a page of global memory.

use super::clock::{Epoch, WHOLE};
use super::part::{self, Part};
use super::readers::{Readers, Reads};
use super::warps::{Known, Verdict};
use super::{Conflict, Space, Touch, Unordered, Word};
use crate::code::Doubles;
use crate::fault::{By, Earlier};
use crate::machine::warp::{lane_number, lanes};

/// An instruction of a warp, and the memory that it accesses.
pub(super) struct View<'r> {
    pub(super) known: &'r mut Known,
    pub(super) space: &'r mut Space,
    pub(super) readers: &'r mut Readers,
    pub(super) pc: u32,
    pub(super) touch: Touch,
}

impl View<'_> {
    /// Whether an earlier access happens before this one; of a split word each byte says so.
    #[inline]
    fn judge(&self, now: Epoch, earlier: Epoch) -> Verdict {
        if earlier == Epoch::SPLIT { Verdict::ByLane } else { self.known.judge(now, earlier) }
    }

    /// The epoch of lanes that count as one.
    #[inline]
    fn now(&self, lane: usize, group: u32) -> Epoch {
        let together = self.touch == Touch::ReadTogether;
        let (lane, group) = if together { (0, WHOLE) } else { (lane, group) };
        let now = Epoch::new((self.known.who(), lane), group, (self.known.now(), self.pc));
        if self.touch.is_strong() { now.atomic() } else { now }
    }

    /// An asynchronous copy that a lane issues is going to write bytes. Offset and size are multiples of 4.
    pub(super) fn overwrite(
        &mut self,
        epoch: Epoch,
        lane: usize,
        (offset, bytes): (u32, u32),
    ) -> Result<(), Conflict> {
        let rows = offset as usize / 16..(offset + bytes) as usize / 16;
        let whole = offset.is_multiple_of(16) && bytes.is_multiple_of(16);
        if whole && self.all_known(lane, rows.clone()) {
            self.space.words[rows].fill([Word::written(epoch); 4]);
            return Ok(());
        }
        let mut offsets = [0; crate::code::LANES];
        offsets[lane] = offset.into();
        self.write_words((&offsets, bytes, 1 << lane), 0)?;
        for word in offset / 4..(offset + bytes) / 4 {
            self.space.overwrite(word as usize, epoch);
        }
        Ok(())
    }

    /// An asynchronous operation reads units of 16 bytes. What they hold was checked for the thread that issues it.
    pub(super) fn read_by(&mut self, epoch: Epoch, units: impl Iterator<Item = u32>) {
        let mut last = Reading::new(Reads::one(epoch));
        for unit in units {
            for word in &mut self.space.words[unit as usize] {
                if word.write != Epoch::SPLIT {
                    word.reads = last.after(word.reads, self.readers, self.known);
                }
            }
        }
    }

    /// Everything is gone but for some words of 8 bytes: the offset of the first of the others that was accessed unknown to this warp.
    pub(super) fn overwrite_all(&mut self, except: &[usize]) -> Result<(), (u32, Earlier)> {
        let rows = self.space.words.len();
        if self.all_known(0, 0..rows) {
            return Ok(());
        }
        for word in (0..2 * rows).filter(|word| !except.contains(word)) {
            let offset = u32::try_from(8 * word).expect("shared memory is small");
            let offsets = [u64::from(offset); crate::code::LANES];
            let written = self.write_words((&offsets, 8, 1), 0);
            written.map_err(|conflict| (offset, conflict.earlier))?;
        }
        Ok(())
    }

    /// Whether no word of some rows is split, and the lane knows of every access to them.
    fn all_known(&self, lane: usize, mut rows: std::ops::Range<usize>) -> bool {
        let now = self.now(lane, 0);
        let mut fine = Word::default();
        rows.all(|row| {
            let words = self.space.words[row];
            let word = words[0];
            if words != [word; 4] || word.write == Epoch::SPLIT {
                return false;
            }
            let seen = word == fine
                || self.known.ordered(now, word.write)
                    && self.readers.judge(word.reads, self.known, now).0 == Verdict::Ordered;
            fine = word;
            seen
        })
    }

    /// Accesses `bytes` bytes of each lane.
    #[inline]
    pub(super) fn access(
        &mut self,
        offsets: &Doubles,
        bytes: u32,
        mask: u32,
    ) -> Result<(), Conflict> {
        if self.touch.writes() {
            self.write(offsets, bytes, mask)
        } else {
            self.read(offsets, bytes, mask)
        }
    }

    #[inline]
    fn read(&mut self, offsets: &Doubles, bytes: u32, mask: u32) -> Result<(), Conflict> {
        self.known.act(mask);
        if bytes >= 4 {
            return self.read_words((offsets, bytes, mask), 0);
        }
        let (whole, rest) = whole_words(offsets, bytes, mask);
        self.read_words((offsets, 4, whole), shared_by(bytes))?;
        self.parts((offsets, bytes, rest), Part::read)
    }

    /// A lane reads units of 16 bytes.
    pub(super) fn read_units(&mut self, lane: usize, units: &[u32]) -> Result<(), Conflict> {
        if self.touch != Touch::ReadTogether {
            self.known.act(1 << lane);
        }
        let mut last = Reading::new(Reads::one(self.now(lane, 0)));
        let mut offsets = [0; crate::code::LANES];
        let mut fine = Epoch::NONE;
        for &unit in units {
            // The common case: the warp knows of the four writers.
            let words = &mut self.space.words[unit as usize];
            let known = words.iter().all(|Word { write, .. }| {
                let known = write.with_act(fine)
                    || *write != Epoch::SPLIT && self.known.knows_all(write.who(), write.time());
                if known {
                    fine = *write;
                }
                known
            });
            if known {
                for word in words {
                    word.reads = last.after(word.reads, self.readers, self.known);
                }
                continue;
            }
            offsets[lane] = 16 * u64::from(unit);
            self.read_words((&offsets, 16, 1 << lane), 0)?;
        }
        Ok(())
    }

    #[inline]
    fn write(&mut self, offsets: &Doubles, bytes: u32, mask: u32) -> Result<(), Conflict> {
        self.known.act(mask);
        if bytes >= 4 {
            return self.write_words((offsets, bytes, mask), 0);
        }
        let (whole, rest) = whole_words(offsets, bytes, mask);
        self.write_words((offsets, 4, whole), shared_by(bytes))?;
        self.parts((offsets, bytes, rest), Part::write)
    }

    fn read_words(&mut self, words: Lanes<'_>, group: u32) -> Result<(), Conflict> {
        let (offsets, bytes, mask) = words;
        if group == 0 && self.read_by_all(words) {
            return Ok(());
        }
        // Of what every lane knows, the last: it is mostly the same participant that wrote the next word.
        let mut fine = Epoch::NONE;
        let mut last = Reading::new(Reads::NOBODY);
        for lane in lanes(mask) {
            let now = self.now(lane, group);
            let reader = Reads::one(now);
            if last.reader != reader {
                last = Reading::new(reader);
            }
            for (row, k) in words_of(offsets[lane], bytes) {
                let Word { write, reads } = self.space.words[row][k];
                if !write.with_act(fine) && !write.is_by(now) {
                    match self.judge(now, write) {
                        Verdict::Ordered if self.known.knows_all(write.who(), write.time()) => {
                            fine = write;
                        }
                        Verdict::Ordered => {}
                        Verdict::Unordered if write.beside(now) => {}
                        Verdict::Unordered => return Err(conflict(lane, (write, true))),
                        Verdict::ByLane => {
                            self.part(now, (row, k), 0..4, Part::read)
                                .map_err(|earlier| conflict(lane, earlier))?;
                            continue;
                        }
                    }
                }
                self.space.words[row][k].reads = last.after(reads, self.readers, self.known);
            }
        }
        Ok(())
    }

    /// Lanes that all read the same words, where each knows of what was written there.
    #[inline]
    fn read_by_all(&mut self, (offsets, bytes, mask): Lanes<'_>) -> bool {
        let first = mask.trailing_zeros() as usize;
        let same = mask.count_ones() > 1 && lanes(mask).all(|lane| offsets[lane] == offsets[first]);
        let known = |(row, k): (usize, usize)| {
            let write = self.space.words[row][k].write;
            write != Epoch::SPLIT && self.known.knows_all(write.who(), write.time())
        };
        if !same || !words_of(offsets[first], bytes).all(known) {
            return false;
        }
        let now = self.now(0, 0);
        let reader = if self.touch == Touch::ReadTogether {
            Reads::one(now)
        } else {
            Reads::lanes(now, mask)
        };
        for (row, k) in words_of(offsets[first], bytes) {
            let word = &mut self.space.words[row][k];
            word.reads = self.readers.with(word.reads, reader, self.known);
        }
        true
    }

    fn write_words(&mut self, words: Lanes<'_>, group: u32) -> Result<(), Conflict> {
        let (offsets, bytes, mask) = words;
        // Of what every lane knows, the last write and the last readers.
        let mut fine = Word::default();
        for lane in lanes(mask) {
            let now = self.now(lane, group);
            for (row, k) in words_of(offsets[lane], bytes) {
                let word = self.space.words[row][k];
                if !word.is_by(now) && !word.with_act(fine) {
                    if !self.known_to_all(word) {
                        self.write_word(now, (row, k))
                            .map_err(|earlier| conflict(lane, earlier))?;
                        continue;
                    }
                    fine = word;
                }
                self.space.words[row][k] = Word::written(now);
            }
        }
        Ok(())
    }

    /// Whether every lane knows of all accesses to a word, which is not split.
    #[inline]
    fn known_to_all(&self, Word { write, reads }: Word) -> bool {
        write != Epoch::SPLIT
            && self.known.knows_all(write.who(), write.time())
            && self.readers.known_to_all(reads, self.known)
    }

    /// Lanes that count as one write a word of which not every lane knows all.
    fn write_word(&mut self, now: Epoch, (row, k): (usize, usize)) -> Result<(), Unordered> {
        let Word { write, reads } = self.space.words[row][k];
        let wrote = self.judge(now, write);
        if wrote == Verdict::Unordered && !write.beside(now) {
            return Err((write, true));
        }
        let (read, reader) = if wrote == Verdict::ByLane {
            (Verdict::ByLane, Epoch::NONE)
        } else {
            self.readers.judge(reads, self.known, now)
        };
        match read {
            Verdict::Ordered => {}
            Verdict::Unordered => return Err((reader, false)),
            Verdict::ByLane => return self.part(now, (row, k), 0..4, Part::write),
        }
        // A strong write that another one does not know of is not forgotten: weak ones that follow race with it.
        let both = wrote == Verdict::Unordered && write.is_atomic() && now.is_atomic();
        let reads = if both {
            self.readers.with(reads, Reads::one(write), self.known)
        } else {
            Reads::NOBODY
        };
        let write = if write.weaker(now) { write } else { now };
        self.space.words[row][k] = Word { write, reads };
        Ok(())
    }

    /// Accesses of one or two bytes that cover no whole word.
    fn parts(&mut self, (offsets, bytes, mask): Lanes<'_>, access: Access) -> Result<(), Conflict> {
        for lane in lanes(mask) {
            let offset = usize::try_from(offsets[lane]).expect("shared memory is small");
            let (row, k, first) = (offset / 16, offset / 4 % 4, offset % 4);
            let now = self.now(lane, 0);
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
        let Space { words, parts, free } = &mut *self.space;
        let word = &mut words[row][k];
        if word.write != Epoch::SPLIT {
            let part = Part::of(word.write, word.reads, self.readers);
            let index = free.pop().unwrap_or_else(|| {
                parts.push(Part::default());
                parts.len() - 1
            });
            parts[index] = part;
            *word = Word { write: Epoch::SPLIT, reads: Reads::of_part(index) };
        }
        let index = word.reads.index();
        let part = &mut parts[index];
        access(part, (self.known, self.readers), now, bytes)?;
        if let Some((write, reads)) = part.whole() {
            *word = Word { write, reads };
            free.push(index);
        }
        Ok(())
    }
}

/// A reader, and what became of a word's readers when it was added last: neighbours mostly have the same.
struct Reading {
    reader: Reads,
    before: Reads,
    after: Reads,
}

impl Reading {
    /// A reader of words that nobody has read.
    fn new(reader: Reads) -> Reading {
        Reading { reader, before: Reads::NOBODY, after: reader }
    }

    /// The readers of a word and this one.
    #[inline]
    fn after(&mut self, before: Reads, readers: &mut Readers, known: &Known) -> Reads {
        if self.before != before {
            (self.before, self.after) = (before, readers.with(before, self.reader, known));
        }
        self.after
    }
}

/// Where the lanes of a mask access as many bytes each: offsets, bytes, mask.
type Lanes<'a> = (&'a Doubles, u32, u32);

/// What a warp does to bytes of a word: [`Part::read`] or [`Part::write`].
type Access = fn(&mut Part, (&Known, &mut Readers), Epoch, part::Span) -> Result<(), Unordered>;

/// The whole words of an access: row, and place in it.
#[inline]
fn words_of(offset: u64, bytes: u32) -> impl Iterator<Item = (usize, usize)> {
    let first = usize::try_from(offset).expect("shared memory is small") / 4;
    (first..first + bytes as usize / 4).map(|word| (word / 4, word % 4))
}

/// How many lanes share a word of accesses of one or two bytes, as a power of two.
const fn shared_by(bytes: u32) -> u32 {
    (4 / bytes).trailing_zeros()
}

/// Of accesses of one or two bytes: the lanes with which whole words begin that they and their
/// neighbours cover, and the lanes that belong to no such word.
pub(super) fn whole_words(offsets: &Doubles, bytes: u32, mask: u32) -> (u32, u32) {
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

#[cold]
fn conflict(lane: usize, unordered: Unordered) -> Conflict {
    Conflict { lane: lane_number(lane), earlier: earlier(unordered) }
}

/// An earlier access, for messages.
pub(super) fn earlier((epoch, wrote): Unordered) -> Earlier {
    let (block, warp) = epoch.place();
    let by = if epoch.is_copy() {
        By::Copy
    } else if epoch.is_start() {
        By::Start { block }
    } else {
        By::Lane { block, warp, lane: lane_number(epoch.lane()) }
    };
    Earlier { pc: epoch.pc(), by, wrote }
}
