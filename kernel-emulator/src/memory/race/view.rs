//! One instruction's accesses to the shared memory of a block, or to a page of global memory.

use super::clock::{Epoch, WHOLE};
use super::part::{self, Part};
use super::readers::{Readers, Reads};
use super::space::{Row, Shape, Space, WORDS, Word};
use super::warps::{Known, Verdict};
use super::{Conflict, Touch, Unordered};
use crate::code::Doubles;
use crate::fault::{By, Earlier};
use crate::machine::warp::{lane_number, lanes};

/// An instruction of a warp, and the memory that it accesses.
pub(super) struct View<'r> {
    known: &'r mut Known,
    space: &'r mut Space,
    readers: &'r mut Readers,
    pc: u32,
    touch: Touch,
    /// The last write and the last readers of which every lane was found to know: mostly the same did so to the next word.
    fine: Word,
    last: Reading,
}

impl<'r> View<'r> {
    /// Of an instruction of a warp that knows so much.
    #[inline]
    pub(super) fn new(
        (known, space, readers): (&'r mut Known, &'r mut Space, &'r mut Readers),
        pc: u32,
        touch: Touch,
    ) -> View<'r> {
        let (fine, last) = (Word::default(), Reading::new(Reads::NOBODY));
        View { known, space, readers, pc, touch, fine, last }
    }

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
            self.space.overwrite(4 * rows.start..4 * rows.end, epoch, self.readers);
            return Ok(());
        }
        let mut offsets = [0; crate::code::LANES];
        offsets[lane] = offset.into();
        self.words((&offsets, bytes, 1 << lane), 0, View::word_written)?;
        let words = offset as usize / 4..(offset + bytes) as usize / 4;
        self.space.overwrite(words, epoch, self.readers);
        Ok(())
    }

    /// An asynchronous operation reads units of 16 bytes. What they hold was checked for the thread that issues it.
    pub(super) fn read_by(&mut self, epoch: Epoch, units: impl Iterator<Item = u32>) {
        let reader = Reads::one(epoch);
        for unit in units {
            if !self.read_row(unit as usize, reader, Shape::Same) {
                for word in self.space.words(unit as usize, self.readers).0 {
                    if word.write != Epoch::SPLIT {
                        word.reads =
                            self.last.after(word.reads, reader, (self.readers, self.known));
                    }
                }
            }
        }
    }

    /// Lanes of a shape read a row, the first of them as `reader`, which may do so. Whether what is known of the words is still the same.
    #[inline]
    fn read_row(&mut self, row: usize, reader: Reads, shape: Shape) -> bool {
        let Row { first, read, .. } = &mut self.space.rows[row];
        if first.write == Epoch::SPLIT {
            return false;
        }
        let reads = first.reads;
        if reads == Reads::NOBODY || *read != shape && self.readers.known_to_all(reads, self.known)
        {
            (first.reads, *read) = (reader, shape);
        } else if *read == shape {
            first.reads = self.last.after(reads, reader, (self.readers, self.known));
        } else {
            return false;
        }
        true
    }

    /// Everything is gone but for some words of 8 bytes: the offset of the first of the others that was accessed unknown to this warp.
    pub(super) fn overwrite_all(&mut self, except: &[usize]) -> Result<(), (u32, Earlier)> {
        let rows = self.space.rows.len();
        if self.all_known(0, 0..rows) {
            return Ok(());
        }
        for word in (0..2 * rows).filter(|word| !except.contains(word)) {
            let offset = u32::try_from(8 * word).expect("shared memory is small");
            let offsets = [u64::from(offset); crate::code::LANES];
            let written = self.words((&offsets, 8, 1), 0, View::word_written);
            written.map_err(|conflict| (offset, conflict.earlier))?;
        }
        Ok(())
    }

    /// Whether no word of some rows is split, and the lane knows of every access to them.
    fn all_known(&mut self, lane: usize, mut rows: std::ops::Range<usize>) -> bool {
        let now = self.now(lane, 0);
        let mut fine = Row::default();
        rows.all(|row| {
            let record = self.space.rows[row];
            if record == fine {
                return true;
            }
            let seen = !record.is_mixed() && self.known_to_all(record.first)
                || (WORDS * row..WORDS * row + WORDS).all(|word| {
                    let (write, (reads, behind)) = (self.space.write(word), self.space.reads(word));
                    write != Epoch::SPLIT
                        && self.known.ordered(now, write)
                        && self.readers.judge((reads, behind), self.known, now).0
                            == Verdict::Ordered
                });
            if !record.is_mixed() {
                fine = record;
            }
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
        if bytes >= 4 && self.read_by_all((offsets, bytes, mask)) {
            return Ok(());
        }
        let rest = self.rows((offsets, bytes, mask), View::row_read)?;
        if bytes >= 4 {
            return self.words((offsets, bytes, rest), 0, View::word_read);
        }
        let (whole, rest) = whole_words(offsets, bytes, rest);
        self.words((offsets, 4, whole), shared_by(bytes), View::word_read)?;
        self.parts((offsets, bytes, rest), Part::read)
    }

    #[inline]
    fn write(&mut self, offsets: &Doubles, bytes: u32, mask: u32) -> Result<(), Conflict> {
        self.known.act(mask);
        let rest = self.rows((offsets, bytes, mask), View::row_written)?;
        if bytes >= 4 {
            return self.words((offsets, bytes, rest), 0, View::word_written);
        }
        let (whole, rest) = whole_words(offsets, bytes, rest);
        self.words((offsets, 4, whole), shared_by(bytes), View::word_written)?;
        self.parts((offsets, bytes, rest), Part::write)
    }

    /// A lane reads units of 16 bytes.
    pub(super) fn read_units(&mut self, lane: usize, units: &[u32]) -> Result<(), Conflict> {
        if self.touch != Touch::ReadTogether {
            self.known.act(1 << lane);
        }
        let now = self.now(lane, 0);
        for &unit in units {
            self.row_read(now, unit as usize, Shape::Same)
                .map_err(|(_, earlier)| conflict(lane, earlier))?;
        }
        Ok(())
    }

    /// Does something to the rows that lanes side by side access as wholes. The other lanes.
    #[inline]
    fn rows(
        &mut self,
        (offsets, bytes, mask): Lanes<'_>,
        each: impl Fn(&mut Self, Epoch, usize, Shape) -> Result<(), (usize, Unordered)>,
    ) -> Result<u32, Conflict> {
        let count = 16 / bytes.min(16);
        let members = u32::MAX >> (32 - count);
        let together = self.touch == Touch::ReadTogether;
        let shape = if together { Shape::Same } else { Shape::of(bytes) };
        let group = if bytes < 4 { shared_by(bytes) } else { 0 };
        let mut rest = mask;
        for (first, at) in (0..).step_by(count as usize).zip(offsets.chunks_exact(count as usize)) {
            let whole = at[0] % 16 == 0 && mask >> first & members == members;
            if !whole || !(at[0]..).step_by(bytes as usize).zip(at).all(|(at, it)| at == *it) {
                continue;
            }
            let now = self.now(first, group);
            let row = usize::try_from(at[0] / 16).expect("memory is small");
            for row in row..row + (bytes as usize).div_ceil(16) {
                each(self, now, row, shape)
                    .map_err(|(k, earlier)| conflict(first + shape.lane(k), earlier))?;
            }
            rest &= !(members << first);
        }
        Ok(rest)
    }

    /// Does something to the words that lanes access, a group of them each.
    #[inline]
    fn words(
        &mut self,
        (offsets, bytes, mask): Lanes<'_>,
        group: u32,
        each: impl Fn(&mut Self, Epoch, (usize, usize)) -> Result<(), Unordered>,
    ) -> Result<(), Conflict> {
        for lane in lanes(mask) {
            let now = self.now(lane, group);
            for at in words_of(offsets[lane], bytes) {
                each(self, now, at).map_err(|earlier| conflict(lane, earlier))?;
            }
        }
        Ok(())
    }

    /// Whether every lane knows of a write, which is none of single bytes.
    #[inline]
    fn write_known(&mut self, write: Epoch) -> bool {
        if write.with_act(self.fine.write) {
            return true;
        }
        let known = write != Epoch::SPLIT && self.known.knows_all(write.who(), write.time());
        if known {
            self.fine.write = write;
        }
        known
    }

    /// Whether every lane knows of all accesses to a word, which is not split.
    #[inline]
    fn known_to_all(&mut self, Word { write, reads }: Word) -> bool {
        self.write_known(write) && self.reads_known(reads)
    }

    /// Whether every lane knows of all reads of a word.
    #[inline]
    fn reads_known(&mut self, reads: Reads) -> bool {
        let known = reads.with_act(self.fine.reads) || self.readers.known_to_all(reads, self.known);
        if known {
            self.fine.reads = reads;
        }
        known
    }

    /// Lanes of a shape read a row.
    fn row_read(&mut self, now: Epoch, row: usize, shape: Shape) -> Result<(), (usize, Unordered)> {
        let Row { first: Word { write, .. }, wrote, .. } = self.space.rows[row];
        let known = self.write_known(write) || wrote == shape && write.is_by(now);
        if known && self.read_row(row, Reads::one(now), shape) {
            return Ok(());
        }
        for k in 0..WORDS {
            self.word_read(now.moved(shape.lane(k)), (row, k)).map_err(|earlier| (k, earlier))?;
        }
        Ok(())
    }

    /// Lanes that count as one read a word.
    #[inline]
    fn word_read(&mut self, now: Epoch, (row, k): (usize, usize)) -> Result<(), Unordered> {
        let Word { write, reads } = self.space.words(row, self.readers).0[k];
        if !self.write_known(write) && !write.is_by(now) {
            match self.judge(now, write) {
                Verdict::Ordered => {}
                Verdict::Unordered if write.beside(now) => {}
                Verdict::Unordered => return Err((write, true)),
                Verdict::ByLane => return self.part(now, (row, k), 0..4, Part::read),
            }
        }
        let reads = self.last.after(reads, Reads::one(now), (self.readers, self.known));
        self.space.words(row, self.readers).0[k].reads = reads;
        Ok(())
    }

    /// Lanes that all read the same words, where each knows of what was written there.
    #[inline]
    fn read_by_all(&mut self, (offsets, bytes, mask): Lanes<'_>) -> bool {
        let first = mask.trailing_zeros() as usize;
        if mask.count_ones() < 2 || !lanes(mask).all(|lane| offsets[lane] == offsets[first]) {
            return false;
        }
        let now = self.now(0, 0);
        let reader = if self.touch == Touch::ReadTogether {
            Reads::one(now)
        } else {
            Reads::lanes(now, mask)
        };
        let words = words_of(offsets[first], bytes);
        if !words.clone().all(|(row, k)| {
            let write = self.space.write(WORDS * row + k);
            self.write_known(write)
        }) {
            return false;
        }
        for (row, k) in words {
            if bytes >= 16 && self.read_row(row, reader, Shape::Same) {
                continue;
            }
            let reads = self.space.words(row, self.readers).0[k].reads;
            let reads = self.last.after(reads, reader, (self.readers, self.known));
            self.space.words(row, self.readers).0[k].reads = reads;
        }
        true
    }

    /// Lanes of a shape write a row.
    fn row_written(
        &mut self,
        now: Epoch,
        row: usize,
        shape: Shape,
    ) -> Result<(), (usize, Unordered)> {
        let Row { first, wrote, read } = self.space.rows[row];
        let by = wrote == shape && first.write.is_by(now) && !now.is_atomic();
        if (by || self.write_known(first.write))
            && (read == shape && first.reads.are_by(now) || self.reads_known(first.reads))
        {
            self.space.rows[row] = Row::written(now, shape);
            return Ok(());
        }
        for k in 0..WORDS {
            self.word_written(now.moved(shape.lane(k)), (row, k))
                .map_err(|earlier| (k, earlier))?;
        }
        self.space.unmix(row, now, shape);
        Ok(())
    }

    /// Lanes that count as one write a word.
    #[inline]
    fn word_written(&mut self, now: Epoch, (row, k): (usize, usize)) -> Result<(), Unordered> {
        let word = self.space.words(row, self.readers).0[k];
        // A strong write does not take the place of a weak one of the same lane.
        let by = word.write.is_by(now) && !now.is_atomic();
        if (by || self.write_known(word.write))
            && (word.reads.are_by(now) || self.reads_known(word.reads))
        {
            self.space.words(row, self.readers).0[k] = Word::written(now);
            return Ok(());
        }
        self.unknown_written(now, (row, k), word)
    }

    /// The same of a word of which not every lane knows all.
    fn unknown_written(
        &mut self,
        now: Epoch,
        (row, k): (usize, usize),
        Word { write, reads }: Word,
    ) -> Result<(), Unordered> {
        let wrote = self.judge(now, write);
        if wrote == Verdict::Unordered && !write.beside(now) {
            return Err((write, true));
        }
        let (read, reader) = if wrote == Verdict::ByLane {
            (Verdict::ByLane, Epoch::NONE)
        } else {
            self.readers.judge((reads, 0), self.known, now)
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
        self.space.words(row, self.readers).0[k] = Word { write, reads };
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
        let (words, parts, free) = self.space.words(row, self.readers);
        let word = &mut words[k];
        if word.write != Epoch::SPLIT {
            let part = Part::of(word.write, word.reads, self.readers);
            let index = free.pop().unwrap_or_else(|| {
                parts.push(Part::default());
                parts.len() - 1
            });
            parts[index] = part;
            *word = Word { write: Epoch::SPLIT, reads: Reads::of_index(index) };
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

    /// The readers of a word and one more.
    #[inline]
    fn after(
        &mut self,
        before: Reads,
        reader: Reads,
        (readers, known): (&mut Readers, &Known),
    ) -> Reads {
        if self.reader != reader || self.before != before {
            *self = Reading { reader, before, after: readers.with(before, reader, known) };
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
fn words_of(offset: u64, bytes: u32) -> impl Iterator<Item = (usize, usize)> + Clone {
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
