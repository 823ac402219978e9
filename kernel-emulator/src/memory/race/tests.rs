//! The detector against a list of all accesses, byte by byte, and of what each thread knows.
#![expect(clippy::cast_possible_truncation, reason = "the numbers are small")]

use std::collections::BTreeSet;

use super::view::whole_words;
use super::{Accessor, Clock, Conflict, Races, Threads, Touch};
use crate::code::{Doubles, LANES};
use crate::fault::{By, Earlier};

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

/// Threads of two warps, and every access that each knows of, its own included, by number.
struct Model {
    known: Vec<BTreeSet<usize>>,
    /// Of each byte of each block, the accesses: number, and whether it wrote.
    bytes: [Vec<Vec<(usize, bool)>>; 2],
    count: usize,
}

impl Model {
    /// Two warps of one block, or of a block each: the start of a block counts as a write of all its memory, which its threads know of.
    fn new(clustered: bool) -> Model {
        let started = |block| if clustered { vec![(block, true)] } else { Vec::new() };
        let known = |block| vec![BTreeSet::from([block]); LANES];
        Model {
            known: [known(0), known(1)].concat(),
            bytes: [0, 1].map(|block| vec![started(block); BYTES]),
            count: 2,
        }
    }

    fn threads(warp: u32, mask: u32) -> Vec<usize> {
        let lanes = (0..LANES).filter(|lane| mask >> lane & 1 != 0);
        lanes.map(|lane| warp as usize * LANES + lane).collect()
    }

    /// What threads know goes to others.
    fn hand_over(&mut self, from: &[usize], to: &[usize]) {
        let all: BTreeSet<usize> = from.iter().flat_map(|t| self.known[*t].clone()).collect();
        for thread in to {
            self.known[*thread].extend(&all);
        }
    }

    /// Lanes access bytes of a block with one instruction: whether an access that one of them does not know of is in the way, a read and a write.
    fn access(
        &mut self,
        (warp, mask): (u32, u32),
        (block, offsets, bytes): (usize, &Doubles, u64),
        write: bool,
    ) -> [bool; 2] {
        let (first, mut found) = (self.count, [false; 2]);
        for thread in Model::threads(warp, mask) {
            let start = offsets[thread % LANES];
            for byte in start as usize..(start + bytes) as usize {
                let again =
                    write && self.bytes[block][byte].iter().any(|(other, _)| *other >= first);
                for &(other, wrote) in &self.bytes[block][byte] {
                    if !again && (write || wrote) && !self.known[thread].contains(&other) {
                        found[usize::from(wrote)] = true;
                    }
                }
                // Of lanes that write one place with one instruction the first is looked at, and the last is known of later.
                self.bytes[block][byte].retain(|(other, _)| !write || *other < first);
                self.bytes[block][byte].push((self.count, write));
            }
            self.known[thread].insert(self.count);
            self.count += 1;
        }
        found
    }
}

/// All lanes, some, or one.
fn some_lanes(random: &mut Random) -> u32 {
    match random.below(3) {
        0 => u32::MAX,
        1 => random.next() as u32 | 1 << random.below(32),
        _ => 1 << random.below(32),
    }
}

/// Lanes of the first or second of two warps, in one block or in two.
fn threads(clustered: bool, warp: u32, mask: u32) -> Threads {
    let (block, warp) = if clustered { (warp, 0) } else { (0, warp) };
    Threads { block, warp, mask, live: u32::MAX }
}

/// Hands on between two warps, or between lanes of one, or at a barrier of all.
fn synchronise(random: &mut Random, clustered: bool, races: &mut Races, model: &mut Model) {
    let threads = |warp, mask| threads(clustered, warp, mask);
    let (warp, mask) = (random.below(2) as u32, some_lanes(random));
    match random.below(4) {
        0 => {
            let mut gathered = Clock::default();
            (0..2).for_each(|warp| races.release(threads(warp, u32::MAX), &mut gathered));
            (0..2).for_each(|warp| races.acquire(threads(warp, u32::MAX), &gathered));
            let all: Vec<usize> = (0..2 * LANES).collect();
            model.hand_over(&all, &all);
        }
        1 | 2 => {
            races.meet(threads(warp, mask));
            let those = Model::threads(warp, mask);
            model.hand_over(&those, &those);
        }
        _ => {
            let (to, who) = (random.below(2) as u32, some_lanes(random));
            let mut handed = Clock::default();
            races.release(threads(warp, mask), &mut handed);
            races.acquire(threads(to, who), &handed);
            model.hand_over(&Model::threads(warp, mask), &Model::threads(to, who));
        }
    }
}

#[test]
fn every_race_of_two_threads_is_found_and_nothing_else() {
    let mut random = Random(71);
    let mut races = Races::default();
    let (mut found, mut passed) = ([0; 3], 0);
    for round in 0..8000 {
        let clustered = round % 2 == 1;
        let (blocks, warps) = if clustered { (2, 1) } else { (1, 2) };
        races.reset(0, (blocks, warps, BYTES as u32), true);
        let mut model = Model::new(clustered);
        for pc in 0..40 {
            if random.below(2) == 0 {
                synchronise(&mut random, clustered, &mut races, &mut model);
            }
            let warp = random.below(2) as u32;
            let bytes = [1, 2, 4, 4, 4, 8, 16][random.below(7) as usize];
            let mask = some_lanes(&mut random);
            let mut offsets = random.offsets(bytes);
            if bytes < 4 {
                // Lanes share words, and no two of them a place.
                let (first, step) = (random.below(BYTES as u64), 1 + random.below(2));
                let slot = |lane| (first + step * lane as u64) * bytes % BYTES as u64;
                offsets = std::array::from_fn(slot);
            }
            let write = random.below(2) == 0;
            let memory = if clustered { random.below(2) as usize } else { 0 };
            let required = model.access((warp, mask), (memory, &offsets, bytes), write);
            let seat = threads(clustered, warp, mask);
            let touch = if write { Touch::Write } else { Touch::Read };
            let who = (Accessor { block: seat.block, warp: seat.warp, pc }, memory, touch);
            let actual = races.access(who, &offsets, bytes as u32, mask);
            match actual {
                Ok(()) => assert_eq!(required, [false, false], "{pc} {warp} {write} {bytes}"),
                Err(Conflict { earlier, .. }) => {
                    assert!(required[usize::from(earlier.wrote)], "{pc} {warp} {write} {bytes}");
                    let kind = match earlier.by {
                        By::Lane { block, warp, .. }
                            if (block, warp) == (seat.block, seat.warp) =>
                        {
                            0
                        }
                        By::Lane { .. } => 1,
                        By::Start { .. } => 2,
                        By::Elsewhere { .. } | By::Warp(_) | By::Copy => {
                            panic!("one cluster, and no copies")
                        }
                    };
                    found[kind] += 1;
                    break;
                }
            }
            passed += 1;
        }
    }
    assert!(found.iter().all(|count| *count > 500) && passed > 10_000, "{found:?} {passed}");
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
    races.reset(0, (1, 2, 64), true);
    let at = |offset: u64| [offset; LANES];
    let write = |warp, pc| (Accessor { block: 0, warp, pc }, 0, Touch::Write);
    let read = |warp, pc| (Accessor { block: 0, warp, pc }, 0, Touch::Read);
    races.access(write(0, 1), &at(0), 2, 1).expect("the first access");
    races.access(write(1, 2), &at(2), 2, 1).expect("the other half");
    assert_eq!((races.spaces[0].parts.len(), races.spaces[0].free.len()), (1, 0));
    let found = races.access(read(0, 3), &at(0), 4, 1).expect_err("half is the other warp's");
    let required = Earlier { pc: 2, by: By::Lane { block: 0, warp: 1, lane: 0 }, wrote: true };
    assert_eq!(found.earlier, required);
    let mut gathered = Clock::default();
    (0..2).for_each(|warp| races.release(threads(false, warp, u32::MAX), &mut gathered));
    (0..2).for_each(|warp| races.acquire(threads(false, warp, u32::MAX), &gathered));
    races.access(write(1, 4), &at(0), 4, 1).expect("after a barrier");
    assert_eq!((races.spaces[0].parts.len(), races.spaces[0].free.len()), (1, 1));
    assert!(races.access(read(0, 5), &at(1), 1, 1).is_err());
}
