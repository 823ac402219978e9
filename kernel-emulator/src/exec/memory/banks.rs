//! Conflicts of banks in shared memory.

use crate::code::{Doubles, LANES};

/// How many times more than once shared memory is read or written: a bank gives one 32-bit word at a
/// time. Accesses of 8 bytes go by half warps, of 16 bytes by quarter warps.
#[inline]
pub(crate) fn conflicts(offsets: &Doubles, bytes: u32, mask: u32) -> u64 {
    let first = offsets[0];
    let mut in_order = mask == u32::MAX;
    for (lane, offset) in (0u64..).zip(offsets) {
        in_order &= *offset == first + u64::from(bytes) * lane;
    }
    if in_order && bytes >= 4 {
        return 0;
    }
    let words = u64::from(bytes.div_ceil(4));
    let group = LANES / usize::try_from(words.min(8)).expect("at most eight");
    (0..LANES)
        .step_by(group)
        .map(|start| group_conflicts(offsets, words, mask, start..start + group))
        .sum()
}

/// The same for lanes that are served together, which access at most 32 words.
fn group_conflicts(offsets: &Doubles, words: u64, mask: u32, group: std::ops::Range<usize>) -> u64 {
    // The words of each bank, as lists: the first, and behind each the next. Nothing is 32.
    const NOTHING: u8 = 32;
    let (mut firsts, mut nexts, mut all) = ([NOTHING; 32], [NOTHING; 32], [0u64; 32]);
    let (mut counts, mut most, mut count) = ([0u8; 32], 0, 0u8);
    for lane in group.filter(|lane| mask >> lane & 1 != 0) {
        for word in offsets[lane] / 4..offsets[lane] / 4 + words {
            let bank = usize::try_from(word % 32).expect("32 banks");
            let mut at = firsts[bank];
            while at != NOTHING && all[usize::from(at)] != word {
                at = nexts[usize::from(at)];
            }
            if at == NOTHING {
                let new = usize::from(count);
                (all[new], nexts[new]) = (word, firsts[bank]);
                firsts[bank] = count;
                count += 1;
                counts[bank] += 1;
                most = most.max(counts[bank]);
            }
        }
    }
    u64::from(most.saturating_sub(1))
}
