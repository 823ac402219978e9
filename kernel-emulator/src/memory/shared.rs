//! The shared memory of one block.

use super::access::WordMemory;
use super::{byte_mask, spread};

/// Shared-space addresses below this one are not mapped, so that address 0 is always a mistake.
pub(crate) const SHARED_BASE: u32 = 1024;
/// Bits of a shared-space address that name the block of the cluster start here.
pub(crate) const RANK_SHIFT: u32 = 24;

/// The shared memory of one block, with what is known of each byte.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    words: Vec<u64>,
    /// One bit per byte: written.
    written: Vec<u8>,
    /// One bit per byte: the destination of an asynchronous copy that nothing waited for.
    in_flight: Vec<u8>,
    /// Warp and instruction that issued the last copy to each four bytes, the smallest that a copy writes.
    issuers: Vec<(u32, u32)>,
    bytes: u32,
    /// How many bytes are in flight: the common answer is none.
    flying: u32,
    /// Of every 16 bytes: how many asynchronous copies have still to read them, and warp and instruction
    /// that issued the last of those.
    holders: Vec<(u32, (u32, u32))>,
    /// How many such copies there are at all.
    holds: u32,
    /// Where mbarriers are: their offsets.
    mbarriers: Vec<u32>,
}

/// Bytes of an mbarrier.
const MBARRIER: u32 = 8;

impl Shared {
    /// Makes it `bytes` bytes, none of them written.
    pub(crate) fn reset(&mut self, bytes: u32) {
        let words = bytes.div_ceil(8) as usize;
        self.words.clear();
        self.words.resize(words, 0);
        self.written.clear();
        self.written.resize(words, 0);
        self.in_flight.clear();
        self.in_flight.resize(words, 0);
        self.bytes = bytes;
        self.flying = 0;
        self.holders.clear();
        self.holds = 0;
        self.mbarriers.clear();
    }

    /// An mbarrier is made at an offset.
    pub(crate) fn make_mbarrier(&mut self, offset: u32) {
        self.mbarriers.push(offset);
    }

    /// The mbarrier at an offset is none any more.
    pub(crate) fn end_mbarrier(&mut self, offset: u32) {
        self.mbarriers.retain(|at| *at != offset);
    }

    /// The offsets of the mbarriers.
    pub(crate) fn mbarriers(&self) -> impl Iterator<Item = u32> {
        self.mbarriers.iter().copied()
    }

    /// The offset of an mbarrier that has some of these bytes.
    #[inline]
    pub(crate) fn mbarrier_in(&self, offset: u32, bytes: u32) -> Option<u32> {
        let touches = |at: &&u32| **at < offset + bytes && offset < **at + MBARRIER;
        self.mbarriers.iter().find(touches).copied()
    }

    pub(crate) fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Whether any byte is in flight at all.
    #[inline]
    pub(crate) fn any_in_flight(&self) -> bool {
        self.flying != 0
    }

    /// Whether an asynchronous copy has still to read any byte at all.
    #[inline]
    pub(crate) fn any_held(&self) -> bool {
        self.holds != 0
    }

    /// Whether any of the bytes is in flight.
    pub(crate) fn in_flight(&self, offset: u32, bytes: u32) -> bool {
        if let Some(words) = whole_words(offset, bytes) {
            return self.in_flight[words].iter().any(|&in_flight| in_flight != 0);
        }
        pieces(offset, bytes).any(|(index, mask, ..)| self.in_flight[index] & mask != 0)
    }

    /// Warp and instruction of the copy that is to write the first of the bytes that are in flight.
    pub(crate) fn in_flight_from(&self, offset: u32, bytes: u32) -> Option<(u32, u32)> {
        let byte = (offset..offset + bytes).find(|&byte| self.in_flight(byte, 1))?;
        self.issuers.get(byte as usize / 4).copied()
    }

    /// A copy of that warp and instruction reads bytes until it lets them [`go`](Self::let_go). Offset and
    /// size are multiples of 16.
    pub(crate) fn hold(&mut self, offset: u32, bytes: u32, issuer: (u32, u32)) {
        self.holders.resize(self.bytes.div_ceil(16) as usize, (0, (0, 0)));
        for holder in &mut self.holders[offset as usize / 16..][..bytes as usize / 16] {
            *holder = (holder.0 + 1, issuer);
        }
        self.holds += 1;
    }

    /// The copy that held the bytes has read them.
    pub(crate) fn let_go(&mut self, offset: u32, bytes: u32) {
        for holder in &mut self.holders[offset as usize / 16..][..bytes as usize / 16] {
            holder.0 -= 1;
        }
        self.holds -= 1;
    }

    /// The same as [`hold`](Self::hold) `times` times, for units of 16 bytes by number.
    pub(crate) fn hold_units(&mut self, units: &[u32], times: u32, issuer: (u32, u32)) {
        self.holders.resize(self.bytes.div_ceil(16) as usize, (0, (0, 0)));
        for unit in units {
            let holder = &mut self.holders[*unit as usize];
            *holder = (holder.0 + times, issuer);
        }
        self.holds += times;
    }

    /// What held the units has read them, once.
    pub(crate) fn let_units_go(&mut self, units: &[u32]) {
        for unit in units {
            self.holders[*unit as usize].0 -= 1;
        }
        self.holds -= 1;
    }

    /// Warp and instruction of a copy that has still to read some of the bytes.
    #[inline]
    pub(crate) fn held(&self, offset: u32, bytes: u32) -> Option<(u32, u32)> {
        if self.holds == 0 {
            return None;
        }
        let end = (offset + bytes).div_ceil(16) as usize;
        let holders = &self.holders[offset as usize / 16..end];
        holders.iter().find(|(count, _)| *count > 0).map(|(_, issuer)| *issuer)
    }

    /// Reads bytes; the first offset never written, if any.
    pub(crate) fn read(&self, offset: u32, data: &mut [u8]) -> Option<u32> {
        let bytes = u32::try_from(data.len()).expect("shared memory is small");
        let mut unwritten = None;
        if let Some(words) = whole_words(offset, bytes)
            && self.written[words.clone()].iter().all(|&written| written == 0xFF)
        {
            for (data, word) in data.chunks_exact_mut(8).zip(&self.words[words]) {
                data.copy_from_slice(&word.to_le_bytes());
            }
            return None;
        }
        for (index, mask, start, from) in pieces(offset, bytes) {
            let missing = mask & !self.written[index];
            if missing != 0 && unwritten.is_none() {
                unwritten =
                    Some(u32::try_from(index).expect("small") * 8 + missing.trailing_zeros());
            }
            let count = mask.count_ones() as usize;
            let word = self.words[index].to_le_bytes();
            data[from..from + count].copy_from_slice(&word[start..start + count]);
        }
        unwritten
    }

    /// Makes bytes count as never written.
    pub(crate) fn forget(&mut self, offset: u32, bytes: u32) {
        for (index, mask, ..) in pieces(offset, bytes) {
            self.written[index] &= !mask;
        }
    }

    /// Marks bytes as in flight, by a copy of that warp and instruction. Offset and size are multiples of 4.
    pub(crate) fn take_off(&mut self, offset: u32, bytes: u32, issuer: (u32, u32)) {
        // Kernels without copies pay nothing; what is left of an earlier copy is in flight no more.
        self.issuers.resize(self.bytes.div_ceil(4) as usize, (0, 0));
        self.issuers[offset as usize / 4..][..bytes as usize / 4].fill(issuer);
        if let Some(words) = whole_words(offset, bytes) {
            for in_flight in &mut self.in_flight[words] {
                self.flying += in_flight.count_zeros();
                *in_flight = 0xFF;
            }
            return;
        }
        for (index, mask, ..) in pieces(offset, bytes) {
            self.flying += (mask & !self.in_flight[index]).count_ones();
            self.in_flight[index] |= mask;
        }
    }

    /// Writes bytes.
    pub(crate) fn write(&mut self, offset: u32, data: &[u8]) {
        let bytes = u32::try_from(data.len()).expect("copies are short");
        if let Some(words) = whole_words(offset, bytes) {
            self.written[words.clone()].fill(0xFF);
            for (word, data) in self.words[words].iter_mut().zip(data.chunks_exact(8)) {
                let data = data.first_chunk().expect("words have eight bytes");
                *word = u64::from_le_bytes(*data);
            }
            return;
        }
        for (index, mask, start, from) in pieces(offset, bytes) {
            let mut word = [0; 8];
            let count = mask.count_ones() as usize;
            word[start..start + count].copy_from_slice(&data[from..from + count]);
            self.put(index, u64::from_le_bytes(word), mask);
        }
    }

    /// Bytes are in flight no more.
    pub(crate) fn land(&mut self, offset: u32, bytes: u32) {
        for (index, mask, ..) in pieces(offset, bytes) {
            self.flying -= (mask & self.in_flight[index]).count_ones();
            self.in_flight[index] &= !mask;
        }
    }

    /// 16 bytes at a multiple of 16; whether all were written.
    #[inline]
    pub(crate) fn row(&self, offset: u32) -> ([u64; 2], bool) {
        let index = offset as usize / 8;
        let written = self.written[index] & self.written[index + 1];
        ([self.words[index], self.words[index + 1]], written == 0xFF)
    }
}

/// The words of a range that consists of whole ones.
#[inline]
fn whole_words(offset: u32, bytes: u32) -> Option<std::ops::Range<usize>> {
    let (start, end) = (offset as usize, (offset + bytes) as usize);
    (start.is_multiple_of(8) && end.is_multiple_of(8)).then_some(start / 8..end / 8)
}

/// The words that a range touches: index, mask, first byte in the word, bytes before it.
fn pieces(offset: u32, bytes: u32) -> impl Iterator<Item = (usize, u8, usize, usize)> {
    let (mut at, end) = (offset as usize, offset as usize + bytes as usize);
    let first = at;
    std::iter::from_fn(move || {
        if at >= end {
            return None;
        }
        let start = at % 8;
        let take = (end - at).min(8 - start);
        let piece = (at / 8, byte_mask(start, take), start, at - first);
        at += take;
        Some(piece)
    })
}

impl WordMemory for Shared {
    #[inline]
    fn word(&self, index: usize) -> (u64, u8) {
        (self.words[index], self.written[index])
    }

    #[inline]
    fn put(&mut self, index: usize, value: u64, mask: u8) {
        let bits = spread(mask);
        let word = &mut self.words[index];
        *word = *word & !bits | value & bits;
        self.written[index] |= mask;
    }
}
