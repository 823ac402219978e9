//! The detector against a list of all accesses since the last barrier, byte by byte.
#![expect(clippy::cast_possible_truncation, reason = "the numbers are small")]

use super::{Clock, Conflict, Races, whole_words};
use crate::code::{Doubles, LANES};

const BYTES: usize = 128;

/// A generator of repeatable numbers (Steele, Lea, Flood: `SplitMix64`).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// Offsets of `bytes` bytes, side by side, apart or anywhere.
    fn offsets(&mut self, bytes: u64) -> Doubles {
        let slots = BYTES as u64 / bytes;
        let (first, step) = (self.below(slots), [1, 1, 2, 4][self.below(4) as usize]);
        let anywhere = self.below(4) == 0;
        std::array::from_fn(|lane| {
            let slot = if anywhere { self.next() } else { first + step * lane as u64 };
            slot % slots * bytes
        })
    }
}

/// What happened to each byte since the last barrier: by which warps it was read, and written.
type History = [[u32; 2]; BYTES];

/// Whether another warp's access to the same bytes is in the way: a read, a write.
fn in_the_way(history: &History, warp: u32, touched: &[usize], write: bool) -> [bool; 2] {
    let others = |kind: usize| touched.iter().any(|&byte| history[byte][kind] & !(1 << warp) != 0);
    [write && others(0), others(1)]
}

#[test]
fn every_race_of_two_warps_is_found_and_nothing_else() {
    let mut random = Random(71);
    let mut races = Races::default();
    let (mut found, mut passed) = (0, 0);
    for _ in 0..4000 {
        races.reset(2, BYTES as u32, true);
        let mut history: History = [[0; 2]; BYTES];
        for _ in 0..30 {
            if random.below(3) == 0 {
                let mut gathered = Clock::default();
                (0..2).for_each(|warp| races.release(warp, &mut gathered));
                (0..2).for_each(|warp| races.acquire(warp, &gathered));
                history = [[0; 2]; BYTES];
            }
            let warp = random.below(2) as u32;
            let bytes = [1, 1, 2, 2, 2, 4, 8, 16][random.below(8) as usize];
            let offsets = random.offsets(bytes);
            let mask = match random.below(3) {
                0 => u32::MAX,
                1 => random.next() as u32,
                _ => 1 << random.below(32),
            };
            let write = random.below(2) == 0;
            let touched: Vec<usize> = (0..LANES)
                .filter(|lane| mask >> lane & 1 != 0)
                .flat_map(|lane| (offsets[lane]..offsets[lane] + bytes).map(|byte| byte as usize))
                .collect();
            let required = in_the_way(&history, warp, &touched, write);
            let size = bytes as u32;
            let actual = if write {
                races.write((warp, 7), &offsets, size, mask)
            } else {
                races.read((warp, 7), &offsets, size, mask)
            };
            match actual {
                Ok(()) => assert_eq!(required, [false, false], "{warp} {write} {bytes}"),
                Err(Conflict { warp: other, wrote, pc, .. }) => {
                    assert!(required[usize::from(wrote)], "{warp} {write} {bytes}");
                    assert_eq!((other, pc), (1 - warp, 7));
                    found += 1;
                    break;
                }
            }
            passed += 1;
            for byte in touched {
                history[byte][usize::from(write)] |= 1 << warp;
            }
        }
    }
    assert!(found > 1000 && passed > 10_000, "{found} {passed}");
}

#[test]
fn lanes_side_by_side_count_as_words() {
    let halves: Doubles = std::array::from_fn(|lane| 2 * lane as u64);
    assert_eq!(whole_words(&halves, 2, u32::MAX), (0x5555_5555, 0));
    // Without lane 5, its neighbour stands alone.
    assert_eq!(whole_words(&halves, 2, !(1 << 5)), (0x5555_5555 & !(1 << 4), 1 << 4));
    assert_eq!(whole_words(&halves.map(|at| at + 2), 2, u32::MAX), (0, u32::MAX));
    let bytes: Doubles = std::array::from_fn(|lane| lane as u64);
    assert_eq!(whole_words(&bytes, 1, 0xFFFF), (0x1111, 0));
    assert_eq!(whole_words(&[0; LANES], 2, u32::MAX), (0, u32::MAX));
}

#[test]
fn words_are_split_only_while_their_bytes_differ() {
    let mut races = Races::default();
    races.reset(2, 64, true);
    let at = |offset: u64| [offset; LANES];
    races.write((0, 1), &at(0), 2, 1).expect("the first access");
    races.write((1, 2), &at(2), 2, 1).expect("the other half");
    assert_eq!((races.parts.len(), races.free.len()), (1, 0));
    let found = races.read((0, 3), &at(0), 4, 1).expect_err("half is the other warp's");
    assert_eq!((found.warp, found.pc, found.wrote), (1, 2, true));
    let mut gathered = Clock::default();
    (0..2).for_each(|warp| races.release(warp, &mut gathered));
    (0..2).for_each(|warp| races.acquire(warp, &gathered));
    races.write((1, 4), &at(0), 4, 1).expect("after a barrier");
    assert_eq!((races.parts.len(), races.free.len()), (1, 1));
    assert!(races.read((0, 5), &at(1), 1, 1).is_err());
}
