//! One instruction's accesses to the shared memory of a block, or to a page of global memory.

use super::clock::{Epoch, WHOLE};
use super::part::{self, Part};
use super::readers::Readers;
use super::warps::{Known, Verdict};
use super::{Conflict, Space, Touch, Unordered};
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
            self.space.writes[rows.clone()].fill([epoch; 4]);
            self.space.reads[rows].fill([0; 4]);
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
        let mut read = (u32::MAX, 0);
        for unit in units {
            let row = unit as usize;
            for k in 0..4 {
                if self.space.writes[row][k] == Epoch::SPLIT {
                    continue;
                }
                let set = &mut self.space.reads[row][k];
                if read.0 != *set {
                    read = (*set, self.readers.with(*set, epoch, self.known));
                }
                *set = read.1;
            }
        }
    }

    /// Everything is gone but for some words of 8 bytes: the offset of the first of the others that was accessed unknown to this warp.
    pub(super) fn overwrite_all(&mut self, except: &[usize]) -> Result<(), (u32, Earlier)> {
        let rows = self.space.writes.len();
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
        let (mut fine, mut unread) = (Epoch::NONE, 0);
        rows.all(|row| {
            let (writes, reads) = (self.space.writes[row], self.space.reads[row]);
            let (write, set) = (writes[0], reads[0]);
            if writes != [write; 4] || write == Epoch::SPLIT || reads != [set; 4] {
                return false;
            }
            let seen = (write, set) == (fine, unread)
                || self.known.ordered(now, write)
                    && self.readers.judge(set, self.known, now).0 == Verdict::Ordered;
            (fine, unread) = (write, set);
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
        let now = self.now(lane, 0);
        let mut offsets = [0; crate::code::LANES];
        let (mut fine, mut read) = (Epoch::NONE, (u32::MAX, 0));
        for &unit in units {
            // The common case: the warp knows of the four writers, mostly one, and the words have the same readers.
            let (writes, reads) =
                (&self.space.writes[unit as usize], &mut self.space.reads[unit as usize]);
            let (write, set) = (writes[0], reads[0]);
            let known = |write: &Epoch| {
                *write != Epoch::SPLIT && self.known.knows_all(write.who(), write.time())
            };
            if *reads == [set; 4]
                && (*writes == [write; 4] && write == fine || writes.iter().all(known))
            {
                fine = write;
                if read.0 != set {
                    read = (set, self.readers.with(set, now, self.known));
                }
                *reads = [read.1; 4];
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
        each_row(words, |lane, row, words| {
            let now = self.now(lane, group);
            // The epoch and the set seen last, the one found to be ordered, and what the other becomes.
            let (mut fine, mut read) = (Epoch::NONE, (u32::MAX, 0));
            for k in words {
                let epoch = self.space.writes[row][k];
                if epoch != fine {
                    let verdict = self.judge(now, epoch);
                    if verdict == Verdict::ByLane {
                        self.part(now, (row, k), 0..4, Part::read)?;
                        continue;
                    }
                    if verdict == Verdict::Unordered && !epoch.beside(now) {
                        return Err((epoch, true));
                    }
                    fine = epoch;
                }
                let set = &mut self.space.reads[row][k];
                if read.0 != *set {
                    read = (*set, self.readers.with(*set, now, self.known));
                }
                *set = read.1;
            }
            Ok(())
        })
    }

    fn write_words(&mut self, words: Lanes<'_>, group: u32) -> Result<(), Conflict> {
        each_row(words, |lane, row, words| {
            let now = self.now(lane, group);
            let (mut fine, mut unread) = (Epoch::NONE, 0);
            for k in words {
                let epoch = self.space.writes[row][k];
                let wrote = if epoch == fine { Verdict::Ordered } else { self.judge(now, epoch) };
                if wrote == Verdict::Unordered && !epoch.beside(now) {
                    return Err((epoch, true));
                }
                let set = self.space.reads[row][k];
                let (read, reader) = if wrote == Verdict::ByLane || set == unread {
                    (Verdict::Ordered, Epoch::NONE)
                } else {
                    self.readers.judge(set, self.known, now)
                };
                if read == Verdict::Unordered {
                    return Err((reader, false));
                }
                if wrote == Verdict::ByLane || read == Verdict::ByLane {
                    self.part(now, (row, k), 0..4, Part::write)?;
                    continue;
                }
                (fine, unread) = (epoch, set);
                self.space.writes[row][k] = if epoch.weaker(now) { epoch } else { now };
                // A strong write that another one does not know of is not forgotten: weak ones that follow race with it.
                let both = wrote == Verdict::Unordered && epoch.is_atomic() && now.is_atomic();
                self.space.reads[row][k] =
                    if both { self.readers.with(set, epoch, self.known) } else { 0 };
            }
            Ok(())
        })
    }

    /// Accesses of one or two bytes that cover no whole word.
    fn parts(&mut self, (offsets, bytes, mask): Lanes<'_>, access: Access) -> Result<(), Conflict> {
        for lane in lanes(mask) {
            let (row, k, _) = span(offsets[lane], bytes);
            let first = (offsets[lane] % 4) as usize;
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
        let Space { writes, reads, parts, free } = &mut *self.space;
        let (write, read) = (&mut writes[row][k], &mut reads[row][k]);
        if *write != Epoch::SPLIT {
            let part = Part::of(*write, *read, self.readers);
            let index = free.pop().unwrap_or_else(|| {
                parts.push(Part::default());
                u32::try_from(parts.len() - 1).expect("shared memory is small")
            });
            parts[index as usize] = part;
            (*write, *read) = (Epoch::SPLIT, index);
        }
        let index = *read;
        let part = &mut parts[index as usize];
        access(part, (self.known, self.readers), now, bytes)?;
        if let Some(whole) = part.whole() {
            (*write, *read) = whole;
            free.push(index);
        }
        Ok(())
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

/// The row, the first word in it, and the number of words of an access.
#[inline]
fn span(offset: u64, bytes: u32) -> (usize, usize, usize) {
    let offset = usize::try_from(offset).expect("shared memory is small");
    (offset / 16, offset / 4 % 4, bytes as usize / 4)
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
