//! The time of a plan on an H200, by its bytes, operations and waits.
//!
//! The constants were fitted to 1623 times of plans for the 108 shapes of `benches/results/products.md`. What is faster than another plan
//! matters more here than the time itself.

use super::{Plan, STEP};

/// A launch behind another one: the blocks have started and read the tensor maps.
const LAUNCH_US: f64 = 2.147;
/// Bytes a nanosecond that one multiprocessor reads at most from the second-level cache, and from memory.
const CACHE_RATE_OF_ONE: f64 = 118.4;
const MEMORY_RATE_OF_ONE: f64 = 38.85;
/// The same of all together; matrices that fit the second-level cache are read from it again when a product is repeated.
const CACHE_RATE: f64 = 10_723.0;
const MEMORY_RATE: f64 = 4599.0;
const RESIDENT_RATE: f64 = 7925.0;
/// What the second-level cache keeps of 60 MB while others come in.
const RESIDENT_BYTES: f64 = 45e6;
/// Operations a nanosecond of one multiprocessor in very large tiles, and how much of a tile of 128 x 256 it loses in smaller ones.
const OPERATIONS: f64 = 8714.0;
const LOST_OF_TILE: f64 = 0.0869 * 128.0 * 256.0;
/// A wait at the barriers of a step, and more for each further block of a cluster.
const STEP_US: f64 = 0.01384;
const STEP_OF_CLUSTER_US: f64 = 0.01863;
/// Rows that do not begin at multiples of 128 bytes lie on one more line each.
const RAGGED: f64 = 1.299;
/// Multiprocessors that wait for others leave some of the memory's bandwidth unused.
const UNEVEN: f64 = 0.489;
/// How much of what shares read more than once comes from memory: their steps are far apart, so that the second-level cache has lost it.
const APART: f64 = 0.0508;
/// How sharply the slower of memory and multiprocessors hides the other.
const SHARPNESS: f64 = 4.132;
/// Rounding and storing a tile, for each and for each number.
const TILE_US: f64 = 0.061;
const NUMBER_US: f64 = 7.2e-5;
/// How much of it does not hide behind the next tile.
const SHOWN: f64 = 0.3;
/// Passing sums of parts of a tile through memory: at all, for each number of each part, and if parts begin within tiles.
const SHARED_US: f64 = 1.272;
const SHARED_NUMBER_US: f64 = 8.1e-5;
const SPREAD_US: f64 = 0.853;

impl Plan {
    /// The time that the model expects, in microseconds.
    #[expect(clippy::cast_precision_loss, reason = "extents are far below 2^52")]
    pub(super) fn microseconds(&self, multiprocessors: usize) -> f64 {
        let Plan { instance, shape: [m, n, k], clusters, .. } = *self;
        let [bl, br, cluster] = [instance.BL, instance.BR, instance.C].map(f64::from);
        let of_all = clusters as f64;
        let busy = (of_all * cluster).min(multiprocessors as f64);
        let (tiles, depth) = (self.tiles(), k.div_ceil(STEP));
        let own = (tiles - self.shared_tiles()).div_ceil(clusters);
        let shared = self.shared_tiles() * depth;
        let share = shared as f64 / of_all;
        let steps = (own * depth) as f64 + share;

        let ragged = if k.is_multiple_of(STEP) { 1.0 } else { RAGGED };
        let bytes = (bl + br / cluster) * 2.0 * STEP as f64 * ragged;
        let rate = CACHE_RATE_OF_ONE.min(CACHE_RATE / busy);
        let operations = 2.0 * bl * br * STEP as f64;
        let pace = OPERATIONS * bl * br / (bl * br + LOST_OF_TILE);
        let behind = STEP_US + STEP_OF_CLUSTER_US * (cluster - 1.0);
        let multiplying = steps * ((operations / pace).max(bytes / rate) * 1e-3 + behind);

        let once = 2.0 * (m * k + n * k + m * n) as f64;
        let (all, one) = if once > RESIDENT_BYTES {
            (MEMORY_RATE, MEMORY_RATE_OF_ONE)
        } else {
            (RESIDENT_RATE, CACHE_RATE_OF_ONE)
        };
        let uneven = (steps * of_all / (tiles * depth) as f64).max(1.0) - 1.0;
        let again = (shared as f64 * bytes / ragged * cluster - once).max(0.0);
        let reading = once / all.min(one * busy) * (1.0 + UNEVEN * uneven) + APART * again / all;

        let (multiplying, reading) =
            (multiplying.powf(SHARPNESS), (reading * 1e-3).powf(SHARPNESS));
        let main = (multiplying + reading).powf(SHARPNESS.recip());
        let stores = TILE_US + NUMBER_US * bl * br * (SHOWN * own as f64).max(1.0);
        LAUNCH_US
            + main
            + stores
            + passing(depth as f64, share, shared.is_multiple_of(clusters), bl * br)
    }
}

/// The time in which shares of `share` steps of tiles of `depth` steps pass their sums on.
fn passing(depth: f64, share: f64, alike: bool, numbers: f64) -> f64 {
    if share == 0.0 || share % depth == 0.0 {
        return 0.0;
    }
    let exact = alike && share < depth && depth % share == 0.0;
    let parts = if share < depth { (depth / share).ceil() } else { 1.0 };
    let parts = if exact { parts } else { parts + 1.0 };
    let spread = if exact { 0.0 } else { SPREAD_US };
    SHARED_US + SHARED_NUMBER_US * numbers * (parts.max(2.0) + 1.0) + spread
}
