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

/// The same for lanes that are served together.
fn group_conflicts(offsets: &Doubles, words: u64, mask: u32, group: std::ops::Range<usize>) -> u64 {
    // The first word of each bank, plus one; a second one in any bank means counting exactly.
    let mut firsts = [0u64; 32];
    let mut clean = true;
    for lane in group.clone().filter(|lane| mask >> lane & 1 != 0) {
        for k in 0..words {
            let word = offsets[lane] / 4 + k;
            let first = &mut firsts[bank(word)];
            if *first == 0 {
                *first = word + 1;
            }
            clean &= *first == word + 1;
        }
    }
    if clean {
        return 0;
    }
    let mut all: Vec<(usize, u64)> = group
        .filter(|lane| mask >> lane & 1 != 0)
        .flat_map(|lane| (0..words).map(move |k| offsets[lane] / 4 + k))
        .map(|word| (bank(word), word))
        .collect();
    all.sort_unstable();
    all.dedup();
    let most = all.chunk_by(|a, b| a.0 == b.0).map(<[_]>::len).max().unwrap_or(0);
    most.saturating_sub(1) as u64
}

fn bank(word: u64) -> usize {
    usize::try_from(word % 32).expect("32 banks")
}
