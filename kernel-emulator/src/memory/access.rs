//! Warp-wide loads and stores: 32 addresses, up to 32 bytes each.
//!
//! Every memory is an array of 64-bit words with a byte of shadow bits each. An access is naturally
//! aligned, so it is in one word or covers whole words. Neighbouring lanes mostly share a word, so
//! loads keep the last word and stores gather one word before they write it.

use crate::code::{Doubles, LANES};
use crate::machine::warp::{lane_number, lanes};

/// Memory as an array of words.
pub(crate) trait WordMemory {
    /// The word, and which of its bytes were ever written.
    fn word(&self, index: usize) -> (u64, u8);
    /// Writes the bytes of `mask`.
    fn put(&mut self, index: usize, value: u64, mask: u8);
}

impl WordMemory for &super::Allocation {
    #[inline]
    fn word(&self, index: usize) -> (u64, u8) {
        use std::sync::atomic::Ordering::Relaxed;
        let written = self.written[index].load(Relaxed);
        (self.words[index].load(Relaxed), written)
    }

    #[inline]
    fn put(&mut self, index: usize, value: u64, mask: u8) {
        super::Allocation::put(self, index, value, mask);
    }
}

/// Why an offset cannot be accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    Bounds,
    Alignment,
}

/// Checks every active lane; the offsets become relative to `base`.
///
/// # Errors
/// The first lane whose access is not possible.
#[inline]
pub(crate) fn check(
    addresses: &Doubles,
    base: u64,
    size: u64,
    bytes: u64,
    mask: u32,
) -> Result<Doubles, (u32, Problem)> {
    let mut offsets = [0; LANES];
    let Some(last) = size.checked_sub(bytes) else {
        return Err((mask.trailing_zeros(), Problem::Bounds));
    };
    // Mostly all lanes are fine, active or not. Sizes are below 2^63, so that the highest bit tells which of two offsets is the larger.
    let (mut beyond, mut low) = (0, 0);
    for lane in 0..LANES {
        let offset = addresses[lane].wrapping_sub(base);
        offsets[lane] = offset;
        beyond |= offset | last.wrapping_sub(offset);
        low |= addresses[lane];
    }
    if beyond >> 63 == 0 && low & (bytes - 1) == 0 {
        return Ok(offsets);
    }
    let misaligned = |lane: usize| addresses[lane] & (bytes - 1) != 0;
    let wrong = lanes(mask).find(|lane| offsets[*lane] > last || misaligned(*lane));
    wrong.map_or(Ok(offsets), |lane| {
        let problem = if misaligned(lane) { Problem::Alignment } else { Problem::Bounds };
        Err((lane_number(lane), problem))
    })
}

/// Whether the bytes of each active lane were written and are `values` already: storing them changes nothing.
#[cold]
pub(crate) fn holds<const N: usize>(
    memory: &impl WordMemory,
    offsets: &Doubles,
    bytes: u32,
    mask: u32,
    values: &[Doubles; N],
) -> bool {
    let mut there = [[0; LANES]; N];
    let ones = u64::MAX >> (64 - 8 * bytes.min(8));
    load(memory, offsets, bytes, mask, &mut there) & mask == mask
        && (0..LANES).filter(|lane| mask >> lane & 1 != 0).all(|lane| {
            let same = |k: usize| there[k][lane] & ones == values[k][lane] & ones;
            (0..(bytes as usize).div_ceil(8)).all(same)
        })
}

/// Loads `bytes` bytes (a power of two, at most `8 N`) of each active lane: word `k` of each lane
/// into `out[k]`. Returns the lanes all of whose bytes were written.
#[inline]
pub(crate) fn load<const N: usize>(
    memory: &impl WordMemory,
    offsets: &Doubles,
    bytes: u32,
    mask: u32,
    out: &mut [Doubles; N],
) -> u32 {
    match bytes {
        1 => load_part::<1>(memory, offsets, mask, &mut out[0]),
        2 => load_part::<2>(memory, offsets, mask, &mut out[0]),
        4 => load_part::<4>(memory, offsets, mask, &mut out[0]),
        _ => load_whole(memory, offsets, mask, out),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "checked offsets fit the host's memory")]
#[inline]
fn load_part<const BYTES: usize>(
    memory: &impl WordMemory,
    offsets: &Doubles,
    mask: u32,
    out: &mut Doubles,
) -> u32 {
    let ones = u64::MAX >> (64 - 8 * BYTES);
    let required = u8::MAX >> (8 - BYTES);
    let mut defined = 0;
    let mut last = usize::MAX;
    let mut word = (0, 0);
    for lane in 0..LANES {
        if mask >> lane & 1 != 0 {
            let offset = offsets[lane] as usize;
            if offset / 8 != last {
                last = offset / 8;
                word = memory.word(last);
            }
            let at = offset % 8;
            out[lane] = word.0 >> (8 * at) & ones;
            defined |= u32::from(word.1 >> at & required == required) << lane;
        }
    }
    defined
}

#[expect(clippy::cast_possible_truncation, reason = "checked offsets fit the host's memory")]
#[inline]
fn load_whole<const N: usize>(
    memory: &impl WordMemory,
    offsets: &Doubles,
    mask: u32,
    out: &mut [Doubles; N],
) -> u32 {
    let mut defined = 0;
    for lane in 0..LANES {
        if mask >> lane & 1 != 0 {
            let index = offsets[lane] as usize / 8;
            let mut all = 0xFF;
            for (k, values) in out.iter_mut().enumerate() {
                let (value, written) = memory.word(index + k);
                values[lane] = value;
                all &= written;
            }
            defined |= u32::from(all == 0xFF) << lane;
        }
    }
    defined
}

/// Stores `bytes` bytes of each active lane; where lanes meet, the highest one wins.
#[inline]
pub(crate) fn store<const N: usize>(
    memory: &mut impl WordMemory,
    offsets: &Doubles,
    bytes: u32,
    mask: u32,
    values: &[Doubles; N],
) {
    match bytes {
        1 => store_part::<1>(memory, offsets, mask, &values[0]),
        2 => store_part::<2>(memory, offsets, mask, &values[0]),
        4 => store_part::<4>(memory, offsets, mask, &values[0]),
        _ => store_whole(memory, offsets, mask, values),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "checked offsets fit the host's memory")]
#[inline]
fn store_part<const BYTES: usize>(
    memory: &mut impl WordMemory,
    offsets: &Doubles,
    mask: u32,
    values: &Doubles,
) {
    let ones = u64::MAX >> (64 - 8 * BYTES);
    let width = u8::MAX >> (8 - BYTES);
    let mut last = usize::MAX;
    let (mut word, mut bytes) = (0u64, 0u8);
    for lane in 0..LANES {
        if mask >> lane & 1 != 0 {
            let offset = offsets[lane] as usize;
            if offset / 8 != last {
                if bytes != 0 {
                    memory.put(last, word, bytes);
                }
                last = offset / 8;
                (word, bytes) = (0, 0);
            }
            let at = offset % 8;
            word = word & !(ones << (8 * at)) | (values[lane] & ones) << (8 * at);
            bytes |= width << at;
        }
    }
    if bytes != 0 {
        memory.put(last, word, bytes);
    }
}

#[expect(clippy::cast_possible_truncation, reason = "checked offsets fit the host's memory")]
#[inline]
fn store_whole<const N: usize>(
    memory: &mut impl WordMemory,
    offsets: &Doubles,
    mask: u32,
    values: &[Doubles; N],
) {
    for lane in 0..LANES {
        if mask >> lane & 1 != 0 {
            let index = offsets[lane] as usize / 8;
            for (k, values) in values.iter().enumerate() {
                memory.put(index + k, values[lane], 0xFF);
            }
        }
    }
}
