//! Who read a word since it was last written: sets, of which many words have the same one.
//!
//! A set has a number, and 0 is the empty one. Adding a reader gives another set; what was given lately is remembered, so that the
//! words of a tile, which the same lanes read in the same order, share their sets.

use super::clock::Epoch;
use super::warps::Known;

/// Places for what was given lately; a power of two.
const REMEMBERED: usize = 4096;
/// With so many sets those that no word has are looked for.
const MANY: usize = 1 << 16;

/// Lanes of a warp that read at a time, with one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reader {
    who: u32,
    time: u32,
    lanes: u32,
    pc: u32,
}

/// A set and a reader, and the set of both.
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
    /// How many sets there may be before those in use are counted.
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
        self.limit = MANY;
    }

    /// The set with one more reader, which knows what `known` says.
    #[inline]
    pub(super) fn with(&mut self, set: u32, reader: Epoch, known: &Known) -> u32 {
        let key = reader.bits();
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
        let lanes = reader.lanes();
        let before = &self.sets[set as usize];
        let same = |one: &Reader| (one.who, one.time, one.pc) == (who, time, pc);
        if before.iter().any(|one| same(one) && one.lanes & lanes == lanes) {
            return set;
        }
        let mut after = Vec::with_capacity(before.len() + 1);
        for one in before {
            let mut one = *one;
            if one.who == who {
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
            None => after.push(Reader { who, time, lanes, pc }),
        }
        self.sets.push(after);
        u32::try_from(self.sets.len() - 1).expect("sets that nobody has are removed")
    }

    /// A reader of the set that those who access now do not know of.
    #[inline]
    pub(super) fn unordered(&self, set: u32, known: &Known, now: Epoch) -> Option<Epoch> {
        if set == 0 {
            return None;
        }
        self.sets[set as usize].iter().find_map(|one| {
            if known.knows_all(one.who, one.time) {
                return None;
            }
            let epoch = |reader| Epoch::new((one.who, reader), 0, (one.time, one.pc));
            crate::machine::warp::lanes(one.lanes)
                .map(epoch)
                .find(|reader| !known.ordered(now, *reader))
        })
    }

    /// Whether it is time to remove sets that no word has.
    #[inline]
    pub(super) fn many(&self) -> bool {
        self.sets.len() >= self.limit
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
        self.sets = sets;
        self.given.fill(Given::default());
        self.limit = MANY.max(2 * self.sets.len());
    }
}
