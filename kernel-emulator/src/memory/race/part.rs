//! Words of which only some bytes were touched at a time: what is known of each byte.

use super::Unordered;
use super::clock::Epoch;
use super::readers::Readers;
use super::warps::Known;

/// The four bytes of a word.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Part {
    writes: [Epoch; 4],
    /// Sets of [`Readers`].
    reads: [u32; 4],
}

/// Bytes of a word, from the first to after the last.
pub(super) type Span = std::ops::Range<usize>;

impl Part {
    /// All bytes know what the word knew.
    pub(super) fn of(write: Epoch, reads: u32) -> Part {
        Part { writes: [write; 4], reads: [reads; 4] }
    }

    /// What the word knows, where all of its bytes know the same.
    pub(super) fn whole(&self) -> Option<(Epoch, u32)> {
        let all = self.writes == [self.writes[0]; 4] && self.reads == [self.reads[0]; 4];
        all.then_some((self.writes[0], self.reads[0]))
    }

    /// The readers of each byte.
    pub(super) fn reads(&mut self) -> impl Iterator<Item = &mut u32> {
        self.reads.iter_mut()
    }

    /// A lane reads bytes; `now` is its epoch, and `known` what its warp knows.
    pub(super) fn read(
        &mut self,
        (known, readers): (&Known, &mut Readers),
        now: Epoch,
        span: Span,
    ) -> Result<(), Unordered> {
        for byte in span {
            if !known.ordered(now, self.writes[byte]) {
                return Err((self.writes[byte], true));
            }
            self.reads[byte] = readers.with(self.reads[byte], now, known);
        }
        Ok(())
    }

    /// A lane writes bytes; `now` is its epoch, and `known` what its warp knows.
    pub(super) fn write(
        &mut self,
        (known, readers): (&Known, &mut Readers),
        now: Epoch,
        span: Span,
    ) -> Result<(), Unordered> {
        for byte in span {
            let write = self.writes[byte];
            if !known.ordered(now, write) && !write.beside(now) {
                return Err((write, true));
            }
            if let Some(reader) = readers.unordered(self.reads[byte], known, now) {
                return Err((reader, false));
            }
            (self.writes[byte], self.reads[byte]) = (now, 0);
        }
        Ok(())
    }
}
