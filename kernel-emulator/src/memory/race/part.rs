//! Words of which only some bytes were touched at a time: what is known of each byte.

use super::{Clock, unordered, warp_of};

/// The four bytes of a word.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Part {
    write: [u32; 4],
    reads: [[u32; 4]; 2],
    /// The instructions of the last write and of the last read.
    sources: [[u32; 4]; 2],
}

/// An earlier access that does not happen before this one: its epoch and instruction, and whether it
/// wrote.
pub(super) type Earlier = (u32, u32, bool);

/// Bytes of a word, from the first to after the last.
pub(super) type Span = std::ops::Range<usize>;

impl Part {
    /// All bytes know what the word knew.
    pub(super) fn of(write: u32, reads: [u32; 2], sources: [u32; 2]) -> Part {
        Part {
            write: [write; 4],
            reads: reads.map(|epoch| [epoch; 4]),
            sources: sources.map(|pc| [pc; 4]),
        }
    }

    /// What the word knows, where all of its bytes know the same.
    pub(super) fn whole(&self) -> Option<(u32, [u32; 2])> {
        let same = |bytes: &[u32; 4]| *bytes == [bytes[0]; 4];
        let all = same(&self.write) && self.reads.iter().all(same);
        all.then(|| (self.write[0], self.reads.map(|bytes| bytes[0])))
    }

    /// The instructions of the last write and of the last read of the first byte.
    pub(super) fn sources(&self) -> [u32; 2] {
        self.sources.map(|bytes| bytes[0])
    }

    /// A warp reads bytes; `now` is its epoch.
    pub(super) fn read(
        &mut self,
        clock: &Clock,
        (now, pc): (u32, u32),
        span: Span,
    ) -> Result<(), Earlier> {
        let warp = warp_of(now);
        for byte in span {
            if unordered(clock, warp, self.write[byte]) {
                return Err((self.write[byte], self.sources[0][byte], true));
            }
            let last = self.reads[0][byte];
            if last != now {
                if warp_of(last) != warp {
                    self.reads[1][byte] = last;
                }
                self.reads[0][byte] = now;
            }
            self.sources[1][byte] = pc;
        }
        Ok(())
    }

    /// A warp writes bytes; `now` is its epoch.
    pub(super) fn write(
        &mut self,
        clock: &Clock,
        (now, pc): (u32, u32),
        span: Span,
    ) -> Result<(), Earlier> {
        let warp = warp_of(now);
        for byte in span {
            if unordered(clock, warp, self.write[byte]) {
                return Err((self.write[byte], self.sources[0][byte], true));
            }
            for reads in &mut self.reads {
                if unordered(clock, warp, reads[byte]) {
                    return Err((reads[byte], self.sources[1][byte], false));
                }
                reads[byte] = 0;
            }
            self.write[byte] = now;
            self.sources[0][byte] = pc;
        }
        Ok(())
    }
}
