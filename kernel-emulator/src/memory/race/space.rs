//! What is known of the words of some memory, 16 bytes by 16 bytes.
//!
//! Lanes side by side mostly access whole rows of 16 bytes together: then one record says of each word which lane it was, by a [`Shape`]. A row of
//! which that does not hold is mixed, and each of its words has a record of its own; so may each byte of a word ([`Part`]).

use super::clock::Epoch;
use super::part::Part;
use super::readers::{Readers, Reads};

/// The words of a row.
pub(super) const WORDS: usize = 4;

/// Which lane accessed each word of a row, from the one that accessed the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Shape {
    /// The same for all words.
    #[default]
    Same,
    /// A lane for two words.
    Halves,
    /// A lane for each word.
    Words,
    /// Two lanes for each word.
    Pairs,
    /// Four lanes for each word.
    Quads,
}

impl Shape {
    /// That of lanes side by side which access as many bytes each.
    #[inline]
    pub(super) const fn of(bytes: u32) -> Shape {
        match bytes {
            1 => Shape::Quads,
            2 => Shape::Pairs,
            4 => Shape::Words,
            8 => Shape::Halves,
            _ => Shape::Same,
        }
    }

    /// How many lanes a word's is behind that of the first.
    #[inline]
    pub(super) const fn lane(self, word: usize) -> usize {
        match self {
            Shape::Same => 0,
            Shape::Halves => word / 2,
            Shape::Words => word,
            Shape::Pairs => 2 * word,
            Shape::Quads => 4 * word,
        }
    }
}

/// What is known of a word: who wrote it last, and who read it since.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// [`Epoch::SPLIT`] where each byte knows that.
    pub(super) write: Epoch,
    pub(super) reads: Reads,
}

impl Word {
    /// A word that was written last at an epoch, and not read since.
    pub(super) const fn written(write: Epoch) -> Word {
        Word { write, reads: Reads::NOBODY }
    }
}

/// What is known of a row: the same of all words, but for the lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Row {
    /// What is known of the first word. [`Epoch::SPLIT`] where each word of the row has a record.
    pub(super) first: Word,
    /// The lanes that wrote the words, and of every reader those that read them.
    pub(super) wrote: Shape,
    pub(super) read: Shape,
}

impl Row {
    /// A row that lanes of a shape wrote last, and that was not read since.
    #[inline]
    pub(super) const fn written(write: Epoch, wrote: Shape) -> Row {
        Row { first: Word::written(write), wrote, read: Shape::Same }
    }

    #[inline]
    pub(super) fn is_mixed(&self) -> bool {
        self.first.write == Epoch::SPLIT
    }
}

/// What is known of some memory.
#[derive(Debug, Default)]
pub(super) struct Space {
    pub(super) rows: Vec<Row>,
    /// The words of mixed rows, and which of these places are free.
    mixed: Vec<[Word; WORDS]>,
    unmixed: Vec<usize>,
    /// The split words, and which of these places are free.
    pub(super) parts: Vec<Part>,
    pub(super) free: Vec<usize>,
}

impl Space {
    /// Forgets everything, for so many rows that were last written at an epoch.
    pub(super) fn reset(&mut self, rows: usize, first: Epoch) {
        self.rows.clear();
        self.rows.resize(rows, Row::written(first, Shape::Same));
        self.mixed.clear();
        self.unmixed.clear();
        self.parts.clear();
        self.free.clear();
    }

    /// The words of a row, which is mixed from here on; and the parts.
    #[inline]
    pub(super) fn words(
        &mut self,
        row: usize,
        readers: &mut Readers,
    ) -> (&mut [Word; WORDS], &mut Vec<Part>, &mut Vec<usize>) {
        if !self.rows[row].is_mixed() {
            self.mix(row, readers);
        }
        let index = self.rows[row].first.reads.index();
        (&mut self.mixed[index], &mut self.parts, &mut self.free)
    }

    fn mix(&mut self, row: usize, readers: &mut Readers) {
        let Row { first: Word { write, reads }, wrote, read } = self.rows[row];
        let words = [0, 1, 2, 3].map(|k| Word {
            write: write.moved(wrote.lane(k)),
            reads: readers.moved(reads, read.lane(k)),
        });
        let index = self.unmixed.pop().unwrap_or_else(|| {
            self.mixed.push([Word::default(); WORDS]);
            self.mixed.len() - 1
        });
        self.mixed[index] = words;
        let first = Word { write: Epoch::SPLIT, reads: Reads::of_index(index) };
        self.rows[row] = Row { first, ..Row::default() };
    }

    /// A mixed row whose words were all written by lanes of a shape and not read since is so no longer.
    pub(super) fn unmix(&mut self, row: usize, write: Epoch, wrote: Shape) {
        let index = self.rows[row].first.reads.index();
        let alike = |k: usize| self.mixed[index][k] == Word::written(write.moved(wrote.lane(k)));
        if self.rows[row].is_mixed() && (0..WORDS).all(alike) {
            self.unmixed.push(index);
            self.rows[row] = Row::written(write, wrote);
        }
    }

    /// Who wrote a word last; [`Epoch::SPLIT`] where each byte has a writer.
    pub(super) fn write(&self, word: usize) -> Epoch {
        let (row, k) = (&self.rows[word / WORDS], word % WORDS);
        if row.is_mixed() {
            self.mixed[row.first.reads.index()][k].write
        } else {
            row.first.write.moved(row.wrote.lane(k))
        }
    }

    /// Who read a word since, before how many lanes. Of a split word nobody.
    pub(super) fn reads(&self, word: usize) -> (Reads, usize) {
        let (row, k) = (&self.rows[word / WORDS], word % WORDS);
        if !row.is_mixed() {
            return (row.first.reads, row.read.lane(k));
        }
        let Word { write, reads } = self.mixed[row.first.reads.index()][k];
        (if write == Epoch::SPLIT { Reads::NOBODY } else { reads }, 0)
    }

    /// Words were written last at an epoch, and not read since.
    pub(super) fn overwrite(
        &mut self,
        words: std::ops::Range<usize>,
        epoch: Epoch,
        readers: &mut Readers,
    ) {
        for word in words.clone() {
            let (row, k) = (word / WORDS, word % WORDS);
            let whole = words.start <= row * WORDS && (row + 1) * WORDS <= words.end;
            if whole && !self.rows[row].is_mixed() {
                self.rows[row] = Row::written(epoch, Shape::Same);
                continue;
            }
            let (mixed, _, free) = self.words(row, readers);
            if mixed[k].write == Epoch::SPLIT {
                free.push(mixed[k].reads.index());
            }
            mixed[k] = Word::written(epoch);
            if k == WORDS - 1 {
                self.unmix(row, epoch, Shape::Same);
            }
        }
    }

    /// The last writes of some words are forgotten that `gone` says so of.
    pub(super) fn forget(&mut self, words: std::ops::Range<usize>, gone: impl Fn(Epoch) -> bool) {
        for word in words {
            let row = &mut self.rows[word / WORDS];
            let write = if row.is_mixed() {
                &mut self.mixed[row.first.reads.index()][word % WORDS].write
            } else {
                &mut row.first.write
            };
            if gone(*write) {
                *write = Epoch::NONE;
            }
        }
    }

    /// Every set of readers.
    pub(super) fn sets(&mut self) -> impl Iterator<Item = &mut Reads> {
        for index in &self.unmixed {
            self.mixed[*index] = [Word::default(); WORDS];
        }
        for index in &self.free {
            self.parts[*index] = Part::default();
        }
        let rows = self.rows.iter_mut().filter(|row| !row.is_mixed()).map(|row| &mut row.first);
        let words = rows.chain(self.mixed.as_flattened_mut());
        let whole = words.filter(|word| word.write != Epoch::SPLIT);
        let sets = whole.map(|word| &mut word.reads);
        sets.chain(self.parts.iter_mut().flat_map(Part::reads))
    }
}
