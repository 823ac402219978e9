//! Who read a word since it was last written: sets, of which many words have the same one.
//!
//! A set has a number, and 0 is the empty one. Adding a reader gives another set; what was given lately is remembered, so that the
//! words of a tile, which the same lanes read in the same order, share their sets.

use super::clock::{Epoch, WHOLE, lanes_of_byte};
use super::warps::{Known, Verdict};

/// Places for what was given lately; a power of two.
const REMEMBERED: usize = 1024;
/// With so many readers in all sets those sets that no word has are looked for.
const MANY: usize = 1 << 19;
/// How many readers of one warp a set tells apart. Beyond that the two oldest count as one, at the older time: a race may be missed, and
/// none is invented.
const OF_A_WARP: usize = 3;

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

/// A set and a reader, whichever its instruction, and the set of both.
#[derive(Clone, Copy, Debug, Default)]
struct Given {
    set: u32,
    reader: u64,
    gives: u32,
}

/// The sets of a block.
#[derive(Debug, Default)]
pub(super) struct Readers {
    sets: Vec<Vec<Reader>>,
    given: Vec<Given>,
    /// How many readers all sets have, and how many they may have before the sets in use are counted.
    count: usize,
    limit: usize,
}

impl Readers {
    /// Forgets every set.
    pub(super) fn reset(&mut self) {
        if self.sets.len() != 1 {
            self.sets.clear();
            self.sets.push(Vec::new());
            self.given.clear();
            self.given.resize(REMEMBERED, Given::default());
        }
        (self.count, self.limit) = (0, MANY);
    }

    /// The set with one more reader, which knows what `known` says.
    #[inline]
    pub(super) fn with(&mut self, set: u32, reader: Epoch, known: &Known) -> u32 {
        let key = reader.without_pc() | u64::from(reader.is_atomic()) << 63;
        let hash = (u64::from(set) << 32 ^ key).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        let place = usize::try_from(hash).expect("few bits are left") % REMEMBERED;
        let given = self.given[place];
        if given.reader == key && given.set == set {
            return given.gives;
        }
        let gives = self.added(set, reader, known);
        self.given[place] = Given { set, reader: key, gives };
        gives
    }

    fn added(&mut self, set: u32, reader: Epoch, known: &Known) -> u32 {
        let (who, time, pc) = (reader.who(), reader.time(), reader.pc());
        let (lanes, group) = (reader.lanes(), reader.group());
        let before = &self.sets[set as usize];
        let atomic = reader.is_atomic();
        let same =
            |one: &Reader| (one.who, one.time, one.group, one.atomic) == (who, time, group, atomic);
        if before.iter().any(|one| same(one) && one.lanes & lanes == lanes) {
            return set;
        }
        let mut after = Vec::with_capacity(before.len() + 1);
        for one in before {
            let mut one = *one;
            if one.who == who && one.group == group && (one.atomic || !atomic) {
                // A later read of the same lane stands for the earlier one.
                one.lanes &= !lanes;
            } else if known.knows_all(one.who, one.time) {
                // Who is ordered behind the new reader is ordered behind this one.
                continue;
            }
            if one.lanes != 0 {
                after.push(one);
            }
        }
        match after.iter_mut().find(|one| same(one)) {
            Some(one) => one.lanes |= lanes,
            None => after.push(Reader { who, time, lanes, group, atomic, pc }),
        }
        let mut own =
            after.iter().enumerate().filter(|(_, one)| one.who == who && one.group == group);
        if let (Some((oldest, _)), Some((next, _))) = (own.next(), own.next())
            && own.count() + 2 > OF_A_WARP
        {
            let gone = after.remove(next);
            after[oldest].lanes |= gone.lanes;
        }
        self.put(after)
    }

    fn put(&mut self, set: Vec<Reader>) -> u32 {
        if set.is_empty() {
            return 0;
        }
        self.count += set.len();
        self.sets.push(set);
        u32::try_from(self.sets.len() - 1).expect("sets that nobody has are removed")
    }

    /// The readers of a set: an epoch, and the lanes that it is of.
    pub(super) fn of(&self, set: u32) -> impl Iterator<Item = (Epoch, u32)> {
        let epoch = |one: &Reader| Epoch::new((one.who, 0), 0, (one.time, one.pc));
        self.sets[set as usize].iter().map(move |one| (epoch(one), one.lanes))
    }

    /// Those of a set that read a byte of the word, each lane for itself.
    pub(super) fn of_byte(&mut self, set: u32, byte: usize) -> u32 {
        let before = &self.sets[set as usize];
        if before.iter().all(|one| matches!(one.group, 0 | WHOLE)) {
            return set;
        }
        let alone = |one: &Reader| {
            let lanes = one.lanes & lanes_of_byte(one.group, byte);
            let group = if one.group == WHOLE { WHOLE } else { 0 };
            (lanes != 0).then_some(Reader { lanes, group, ..*one })
        };
        let after = before.iter().filter_map(alone).collect();
        self.put(after)
    }

    /// Whether all readers of the set happen before what comes next; the first that does not, lane by lane.
    #[inline]
    pub(super) fn judge(&self, set: u32, known: &Known, now: Epoch) -> (Verdict, Epoch) {
        for one in &self.sets[set as usize] {
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
        self.count >= self.limit
    }

    /// Removes the sets that none of the words has, which are given new numbers.
    #[cold]
    pub(super) fn collect<'w>(&mut self, words: impl Iterator<Item = &'w mut u32>) {
        let mut sets = vec![Vec::new()];
        let mut numbers = vec![0; self.sets.len()];
        for word in words {
            if *word != 0 && numbers[*word as usize] == 0 {
                numbers[*word as usize] = u32::try_from(sets.len()).expect("no more than before");
                sets.push(std::mem::take(&mut self.sets[*word as usize]));
            }
            *word = numbers[*word as usize];
        }
        self.count = sets.iter().map(Vec::len).sum();
        self.sets = sets;
        self.given.fill(Given::default());
        self.limit = MANY.max(2 * self.count);
    }
}
