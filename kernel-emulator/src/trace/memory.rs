//! What of its global memory a traced block has to fetch.
//!
//! The first-level cache is modelled by its lines of 128 bytes, of which each sector of 32 bytes is fetched by itself; the line that came
//! first goes first. Stores go through to the second-level cache and do not fill it.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::record::Through;
use crate::code::Doubles;
use crate::machine::Launch;
use crate::machine::warp::lanes;

/// Bytes of a line, and of a sector.
const LINE: u64 = 128;
const SECTOR: u64 = 32;

/// A line by its number, and the sectors of it.
pub(super) type Touched = (u64, u8);

/// The first-level cache of a block.
#[derive(Debug)]
pub(super) struct Sectors {
    held: HashMap<u64, u8>,
    order: VecDeque<u64>,
    most: usize,
}

/// What one instruction accesses.
#[derive(Debug)]
pub(super) struct Access {
    /// In order.
    pub(super) lines: Vec<Touched>,
    /// Bytes of the sectors that are not in the first-level cache.
    pub(super) missed_bytes: u64,
}

impl Sectors {
    pub(super) fn new(bytes: u32) -> Sectors {
        let most = (u64::from(bytes) / LINE).max(1);
        let most = usize::try_from(most).expect("a cache is small");
        Sectors { held: HashMap::new(), order: VecDeque::new(), most }
    }

    pub(super) fn access(
        &mut self,
        (addresses, bytes, mask): (&Doubles, u32, u32),
        how: Through,
    ) -> Access {
        let mut touched: BTreeMap<u64, u8> = BTreeMap::new();
        for lane in lanes(mask) {
            let (start, end) = (addresses[lane], addresses[lane] + u64::from(bytes.max(1)));
            for sector in start / SECTOR..end.div_ceil(SECTOR) {
                *touched.entry(sector * SECTOR / LINE).or_default() |= 1 << (sector % 4);
            }
        }
        let missed = touched.iter().map(|(line, sectors)| match how {
            Through::Cache => self.fetch(*line, *sectors),
            Through::Bypass | Through::Write => u64::from(sectors.count_ones()),
        });
        let missed_bytes = missed.sum::<u64>() * SECTOR;
        Access { lines: touched.into_iter().collect(), missed_bytes }
    }

    /// Brings sectors of a line into the cache: how many were not there.
    fn fetch(&mut self, line: u64, sectors: u8) -> u64 {
        let held = self.held.entry(line).or_default();
        if *held == 0 {
            self.order.push_back(line);
        }
        let missing = sectors & !*held;
        *held |= sectors;
        if self.order.len() > self.most
            && let Some(oldest) = self.order.pop_front()
        {
            self.held.remove(&oldest);
        }
        u64::from(missing.count_ones())
    }
}

/// What of global memory the blocks of a cluster touch.
#[derive(Debug, Default)]
pub(super) struct Footprint {
    read: HashMap<u64, u8>,
    written: HashMap<u64, u8>,
    /// Different bytes that are read, and written.
    pub(super) unique_read: u64,
    pub(super) unique_written: u64,
    /// Bytes that the second-level cache is asked for, and gets.
    pub(super) read_bytes: u64,
    pub(super) written_bytes: u64,
    /// The allocations that are read, and written: base, bytes.
    from: BTreeMap<u64, u64>,
    to: BTreeMap<u64, u64>,
    guess: usize,
}

impl Footprint {
    pub(super) fn touch(
        &mut self,
        launch: &Launch<'_>,
        ((line, sectors), how): (Touched, Through),
    ) {
        let (lines, unique, allocations) = match how {
            Through::Cache | Through::Bypass => {
                (&mut self.read, &mut self.unique_read, &mut self.from)
            }
            Through::Write => (&mut self.written, &mut self.unique_written, &mut self.to),
        };
        let held = lines.entry(line).or_default();
        let new = sectors & !*held;
        if new == 0 {
            return;
        }
        *held |= new;
        *unique += SECTOR * u64::from(new.count_ones());
        let address = line * LINE + SECTOR * u64::from(new.trailing_zeros());
        if let Some(allocation) = launch.allocation(address, &mut self.guess) {
            allocations.insert(allocation.base, allocation.bytes);
        }
    }

    /// The part of what is read, and of what is written, that main memory sees, where that many clusters run: what they have in
    /// common is fetched once, and no more than there is.
    #[expect(clippy::cast_precision_loss, reason = "bytes of memory are far below 2^52")]
    pub(super) fn main_memory(&self, clusters: f64) -> (f64, f64) {
        let share = |unique: u64, bytes: u64, there: &BTreeMap<u64, u64>| {
            let (all, there) = (bytes as f64 * clusters, there.values().sum::<u64>() as f64);
            if all > 0.0 { ((unique as f64 * clusters).min(there) / all).min(1.0) } else { 0.0 }
        };
        (
            share(self.unique_read, self.read_bytes, &self.from),
            share(self.unique_written, self.written_bytes, &self.to),
        )
    }
}
