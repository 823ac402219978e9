//! The local memory of the threads of one warp.

use super::access::WordMemory;
use super::spread;
use crate::code::LANES;

/// Local-space addresses below this one are not mapped.
pub(crate) const LOCAL_BASE: u32 = 64;

/// The local memory of a warp: word `i` of lane `l` at `32 i + l`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Local {
    words: Vec<u64>,
    written: Vec<u8>,
    bytes: u32,
}

impl Local {
    /// Makes it `bytes` bytes a lane, none of them written.
    pub(crate) fn reset(&mut self, bytes: u32) {
        let words = bytes.div_ceil(8) as usize * LANES;
        self.words.clear();
        self.words.resize(words, 0);
        self.written.clear();
        self.written.resize(words, 0);
        self.bytes = bytes;
    }

    pub(crate) fn bytes(&self) -> u32 {
        self.bytes
    }

    /// One lane's memory.
    pub(crate) fn lane(&mut self, lane: usize) -> Lane<'_> {
        Lane { local: self, lane }
    }

    /// Reads one byte of a lane, if it was written.
    pub(crate) fn byte(&self, lane: usize, offset: u32) -> Option<u8> {
        let index = offset as usize / 8 * LANES + lane;
        let at = offset % 8;
        let written = self.written.get(index)? >> at & 1 != 0;
        let [byte, ..] = (self.words[index] >> (8 * at)).to_le_bytes();
        written.then_some(byte)
    }

    /// Makes bytes of a lane count as never written.
    pub(crate) fn forget(&mut self, lane: usize, offset: u32, bytes: u32) {
        for at in offset..offset + bytes {
            self.written[at as usize / 8 * LANES + lane] &= !(1 << (at % 8));
        }
    }

    /// Copies bytes inside the lanes of `mask`, with their shadow: parameters of calls.
    pub(crate) fn copy(&mut self, from: u32, to: u32, bytes: u32, mask: u32) {
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
            for i in 0..bytes {
                let value = self.byte(lane, from + i);
                let (index, at) = ((to + i) as usize / 8 * LANES + lane, (to + i) % 8);
                let bits = 0xFF << (8 * at);
                match value {
                    Some(byte) => {
                        self.words[index] = self.words[index] & !bits | u64::from(byte) << (8 * at);
                        self.written[index] |= 1 << at;
                    }
                    None => self.written[index] &= !(1 << at),
                }
            }
        }
    }
}

/// One lane's memory.
pub(crate) struct Lane<'a> {
    local: &'a mut Local,
    lane: usize,
}

impl WordMemory for Lane<'_> {
    fn word(&self, index: usize) -> (u64, u8) {
        let index = index * LANES + self.lane;
        (self.local.words[index], self.local.written[index])
    }

    fn put(&mut self, index: usize, value: u64, mask: u8) {
        let bits = spread(mask);
        let index = index * LANES + self.lane;
        let word = &mut self.local.words[index];
        *word = *word & !bits | value & bits;
        self.local.written[index] |= mask;
    }
}
