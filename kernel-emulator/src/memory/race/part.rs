//! Words of which only some bytes were touched at a time: what is known of each byte.

use super::Unordered;
use super::clock::Epoch;
use super::readers::{Readers, Reads};
use super::warps::{Known, Verdict};

/// The four bytes of a word.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Part {
    writes: [Epoch; 4],
    reads: [Reads; 4],
}

/// Bytes of a word, from the first to after the last.
pub(super) type Span = std::ops::Range<usize>;

impl Part {
    /// Each byte knows what the word knew of it.
    pub(super) fn of(write: Epoch, reads: Reads, readers: &mut Readers) -> Part {
        Part {
            writes: [0, 1, 2, 3].map(|byte| write.of_byte(byte)),
            reads: [0, 1, 2, 3].map(|byte| readers.of_byte(reads, byte)),
        }
    }

    /// What the word knows, where all of its bytes know the same.
    pub(super) fn whole(&self) -> Option<(Epoch, Reads)> {
        let together = |group: &u32| {
            let word = self.writes[0].together(*group);
            (0..4).all(|byte| self.writes[byte] == word.of_byte(byte))
        };
        let alike = self.writes == [self.writes[0]; 4];
        let group = if alike { Some(0) } else { [1, 2].into_iter().find(together) };
        let group = group.filter(|_| self.reads == [self.reads[0]; 4])?;
        let write = self.writes[0];
        Some((if group == 0 { write } else { write.together(group) }, self.reads[0]))
    }

    /// The readers of each byte.
    pub(super) fn reads(&mut self) -> impl Iterator<Item = &mut Reads> {
        self.reads.iter_mut()
    }

    /// Lanes read bytes; `now` is their epoch, and `known` what its warp knows.
    pub(super) fn read(
        &mut self,
        (known, readers): (&Known, &mut Readers),
        now: Epoch,
        span: Span,
    ) -> Result<(), Unordered> {
        for byte in span {
            let now = now.of_byte(byte);
            if !known.ordered(now, self.writes[byte]) && !self.writes[byte].beside(now) {
                return Err((self.writes[byte], true));
            }
            self.reads[byte] = readers.with(self.reads[byte], Reads::one(now), known);
        }
        Ok(())
    }

    /// Lanes write bytes; `now` is their epoch, and `known` what its warp knows.
    pub(super) fn write(
        &mut self,
        (known, readers): (&Known, &mut Readers),
        now: Epoch,
        span: Span,
    ) -> Result<(), Unordered> {
        for byte in span {
            let (now, write) = (now.of_byte(byte), self.writes[byte]);
            if !known.ordered(now, write) && !write.beside(now) {
                return Err((write, true));
            }
            let (verdict, reader) = readers.judge((self.reads[byte], 0), known, now);
            if verdict != Verdict::Ordered {
                return Err((reader, false));
            }
            (self.writes[byte], self.reads[byte]) = (now, Reads::NOBODY);
        }
        Ok(())
    }
}
