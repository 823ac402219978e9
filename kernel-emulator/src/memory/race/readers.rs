//! Who read a word since it was last written: mostly nobody or one reader, else a set, of which many words have the same one.
//!
//! A set has a number. Adding a reader gives another set; what was given lately is remembered, so that the words of a tile, which the same lanes read in
//! the same order, share their sets.

use super::clock::{Epoch, WHO_BITS, WHOLE, lanes_of_byte};
use super::warps::{Known, Verdict};

/// Places for what was given lately; a power of two.
const REMEMBERED: usize = 512;
/// With so many readers in all sets those sets that no word has are looked for.
const MANY: usize = 1 << 19;
/// How many readers of one warp a set tells apart. Beyond that the two oldest count as one, at the older time: a race may be missed, and
/// none is invented.
const OF_A_WARP: usize = 3;

/// Who read a word since it was last written: nobody, lanes of a warp at one time, or a set. Of a split word the index of its
/// [`Part`](super::part::Part), of a mixed row that of its words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reads {
    /// The epoch of lane 0, though it may not be among the lanes; [`SET`](Reads::SET) and where the readers of a set begin; or an index.
    epoch: Epoch,
    /// The lanes; or how many readers a set has.
    lanes: u32,
}

impl Reads {
    pub(super) const NOBODY: Reads = Reads { epoch: Epoch::NONE, lanes: 0 };
    /// In place of a participant, one that there is none of.
    const SET: u64 = u64::MAX << (64 - WHO_BITS);

    /// The lanes of an epoch.
    #[inline]
    pub(super) fn one(epoch: Epoch) -> Reads {
        Reads { epoch: epoch.of_warp(), lanes: epoch.lanes() }
    }

    /// The same of some lanes, each for itself.
    #[inline]
    pub(super) fn lanes(epoch: Epoch, lanes: u32) -> Reads {
        Reads { epoch: epoch.of_warp(), lanes }
    }

    fn set(start: usize, count: usize) -> Reads {
        let lanes = u32::try_from(count).expect("a cluster has few warps");
        Reads { epoch: Epoch::of_bits(Reads::SET | start as u64), lanes }
    }

    #[inline]
    fn is_set(self) -> bool {
        self.epoch.bits() & Reads::SET == Reads::SET
    }

    /// Where the readers of a set are.
    #[inline]
    fn range(self) -> std::ops::Range<usize> {
        let start = self.epoch.bits() & !Reads::SET;
        let start = usize::try_from(start).expect("the host holds the readers");
        start..start + self.lanes as usize
    }

    #[inline]
    fn is_alone(self) -> bool {
        self.lanes != 0 && !self.is_set()
    }

    /// Whether who knows of all that the readers did by then knows so of the others.
    #[inline]
    pub(super) fn with_act(self, other: Reads) -> bool {
        self == other || self.is_alone() && other.is_alone() && self.epoch.with_act(other.epoch)
    }

    /// Whether nobody but the lanes of an epoch read.
    #[inline]
    pub(super) fn are_by(self, now: Epoch) -> bool {
        self.lanes == 0 || self.lanes == now.lanes() && self.epoch.is_by(now.of_warp())
    }

    /// The index that it is.
    pub(super) fn index(self) -> usize {
        usize::try_from(self.epoch.bits()).expect("shared memory is small")
    }

    pub(super) fn of_index(index: usize) -> Reads {
        Reads { epoch: Epoch::of_bits(index as u64), lanes: 0 }
    }

    #[inline]
    fn reader(self) -> Reader {
        let Reads { epoch, lanes } = self;
        Reader {
            who: epoch.who(),
            time: epoch.time(),
            lanes,
            group: epoch.group(),
            atomic: epoch.is_atomic(),
            pc: epoch.pc(),
        }
    }
}

/// Lanes of a warp that read at a time, and the first instruction that did so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reader {
    who: u32,
    time: u32,
    lanes: u32,
    /// How many of them read a word together, as a power of two.
    group: u32,
    /// Whether they did so strongly.
    atomic: bool,
    pc: u32,
}

impl Reader {
    fn reads(self) -> Reads {
        let epoch = Epoch::new((self.who, 0), self.group, (self.time, self.pc));
        Reads { epoch: if self.atomic { epoch.atomic() } else { epoch }, lanes: self.lanes }
    }
}

/// Readers and one more, and what gives both.
#[derive(Clone, Copy, Debug, Default)]
struct Given {
    reads: Reads,
    reader: Reads,
    gives: Reads,
}

/// The sets of a block.
#[derive(Debug, Default)]
pub(super) struct Readers {
    /// The readers of all sets, one set behind the other.
    sets: Vec<Reader>,
    given: Vec<Given>,
    /// How many readers all sets may have before the sets in use are counted.
    limit: usize,
}

impl Readers {
    /// Forgets every set.
    pub(super) fn reset(&mut self) {
        if !self.sets.is_empty() {
            self.sets.clear();
            self.given.fill(Given::default());
        }
        self.limit = MANY;
    }

    /// One more reader, which knows what `known` says.
    #[inline]
    pub(super) fn with(&mut self, reads: Reads, reader: Reads, known: &Known) -> Reads {
        if reads == Reads::NOBODY {
            return reader;
        }
        if !reads.is_set() {
            let (before, now) = (reads.epoch, reader.epoch);
            let alike = before.is_of(now);
            if alike && before.is_atomic() == now.is_atomic() {
                return Reads { epoch: before, lanes: reads.lanes | reader.lanes };
            }
            // A later read of the same lanes stands for the earlier one; and who is ordered behind the new reader is ordered behind one that it knows of.
            let weaker = now.is_atomic() && !before.is_atomic();
            let again = (before.who(), before.group()) == (now.who(), now.group())
                && reads.lanes & !reader.lanes == 0;
            if again && !weaker || known.knows_all(before.who(), before.time()) {
                return reader;
            }
        }
        self.with_several(reads, reader, known)
    }

    fn with_several(&mut self, reads: Reads, reader: Reads, known: &Known) -> Reads {
        if self.given.is_empty() {
            self.given.resize(REMEMBERED, Given::default());
        }
        let bits = reads.epoch.bits() ^ u64::from(reads.lanes) << 20;
        let more = reader.epoch.bits().rotate_left(32) ^ u64::from(reader.lanes);
        let hash = (bits ^ more).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        let place = usize::try_from(hash).expect("few bits are left") % REMEMBERED;
        let given = self.given[place];
        if given.reader == reader && given.reads == reads {
            return given.gives;
        }
        let gives = self.added(reads, reader, known);
        self.given[place] = Given { reads, reader, gives };
        gives
    }

    /// The readers.
    #[inline]
    fn each(&self, reads: Reads) -> impl Iterator<Item = Reader> {
        let set = if reads.is_set() { &self.sets[reads.range()] } else { &[] };
        reads.is_alone().then(|| reads.reader()).into_iter().chain(set.iter().copied())
    }

    fn added(&mut self, reads: Reads, reader: Reads, known: &Known) -> Reads {
        let reader = reader.reader();
        let Reader { who, time, lanes, group, atomic, .. } = reader;
        let same =
            |one: &Reader| (one.who, one.time, one.group, one.atomic) == (who, time, group, atomic);
        if self.each(reads).any(|one| same(&one) && one.lanes & lanes == lanes) {
            return reads;
        }
        // The new set is made behind the others.
        let start = self.sets.len();
        let before = if reads.is_set() { reads.range() } else { 0..1 };
        for at in before {
            let mut one = if reads.is_set() { self.sets[at] } else { reads.reader() };
            if one.who == who && one.group == group && (one.atomic || !atomic) {
                // A later read of the same lane stands for the earlier one.
                one.lanes &= !lanes;
            } else if known.knows_all(one.who, one.time) {
                // Who is ordered behind the new reader is ordered behind this one.
                continue;
            }
            if one.lanes != 0 {
                self.sets.push(one);
            }
        }
        match self.sets[start..].iter_mut().find(|one| same(one)) {
            Some(one) => one.lanes |= lanes,
            None => self.sets.push(reader),
        }
        let after = &self.sets[start..];
        let mut own =
            after.iter().enumerate().filter(|(_, one)| one.who == who && one.group == group);
        if let (Some((oldest, _)), Some((next, _))) = (own.next(), own.next())
            && own.count() + 2 > OF_A_WARP
        {
            let gone = self.sets.remove(start + next);
            self.sets[start + oldest].lanes |= gone.lanes;
        }
        self.set_from(start)
    }

    /// The set of the readers from a place on.
    fn set_from(&mut self, start: usize) -> Reads {
        let one = match self.sets[start..] {
            [] => Reads::NOBODY,
            [one] => one.reads(),
            _ => return Reads::set(start, self.sets.len() - start),
        };
        self.sets.truncate(start);
        one
    }

    /// The readers: an epoch, and the lanes that it is of.
    pub(super) fn of(&self, reads: Reads) -> impl Iterator<Item = (Epoch, u32)> {
        let epoch = |one: Reader| Epoch::new((one.who, 0), 0, (one.time, one.pc));
        self.each(reads).map(move |one| (epoch(one), one.lanes))
    }

    /// The same of lanes so many behind.
    pub(super) fn moved(&mut self, reads: Reads, by: usize) -> Reads {
        if by == 0 || reads == Reads::NOBODY {
            reads
        } else if reads.is_set() {
            let start = self.sets.len();
            self.sets.extend_from_within(reads.range());
            for one in &mut self.sets[start..] {
                one.lanes <<= by;
            }
            Reads::set(start, self.sets.len() - start)
        } else {
            Reads { lanes: reads.lanes << by, ..reads }
        }
    }

    /// Those that read a byte of the word, each lane for itself.
    pub(super) fn of_byte(&mut self, reads: Reads, byte: usize) -> Reads {
        if self.each(reads).all(|one| matches!(one.group, 0 | WHOLE)) {
            return reads;
        }
        let alone = |one: Reader| {
            let lanes = one.lanes & lanes_of_byte(one.group, byte);
            let group = if one.group == WHOLE { WHOLE } else { 0 };
            (lanes != 0).then_some(Reader { lanes, group, ..one })
        };
        let after: Vec<Reader> = self.each(reads).filter_map(alone).collect();
        let start = self.sets.len();
        self.sets.extend(after);
        self.set_from(start)
    }

    /// Whether every lane knows of all that the readers did by then.
    #[inline]
    pub(super) fn known_to_all(&self, reads: Reads, known: &Known) -> bool {
        if !reads.is_set() {
            return known.knows_all(reads.epoch.who(), reads.epoch.time());
        }
        self.sets[reads.range()].iter().all(|one| known.knows_all(one.who, one.time))
    }

    /// Whether all readers, of lanes so many behind, happen before what comes next; the first that does not, lane by lane.
    pub(super) fn judge(
        &self,
        (reads, behind): (Reads, usize),
        known: &Known,
        now: Epoch,
    ) -> (Verdict, Epoch) {
        for mut one in self.each(reads) {
            one.lanes <<= behind;
            if known.knows_all(one.who, one.time)
                || one.atomic && now.is_atomic()
                || one.who == known.who() && one.group == now.group() && one.lanes == now.lanes()
            {
                continue;
            }
            let shared = !matches!(one.group, 0 | WHOLE);
            if shared || now.is_shared() {
                return (Verdict::ByLane, Epoch::NONE);
            }
            let lanes = if one.group == WHOLE { 1 } else { one.lanes };
            let mut readers = crate::machine::warp::lanes(lanes)
                .map(|lane| Epoch::new((one.who, lane), one.group, (one.time, one.pc)));
            if let Some(reader) = readers.find(|reader| !known.ordered(now, *reader)) {
                return (Verdict::Unordered, reader);
            }
        }
        (Verdict::Ordered, Epoch::NONE)
    }

    /// Whether it is time to remove sets that no word has.
    #[inline]
    pub(super) fn many(&self) -> bool {
        self.sets.len() >= self.limit
    }

    /// Removes the sets that none of the words has.
    #[cold]
    pub(super) fn collect<'w>(&mut self, words: impl Iterator<Item = &'w mut Reads>) {
        let mut sets = Vec::new();
        let mut moved: Vec<Option<Reads>> = vec![None; self.sets.len()];
        for word in words.filter(|word| word.is_set()) {
            let range = word.range();
            *word = *moved[range.start].get_or_insert_with(|| {
                sets.extend_from_slice(&self.sets[range.clone()]);
                Reads::set(sets.len() - range.len(), range.len())
            });
        }
        self.sets = sets;
        self.given.fill(Given::default());
        self.limit = MANY.max(2 * self.sets.len());
    }
}
