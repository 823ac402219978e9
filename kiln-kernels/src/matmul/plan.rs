//! Which instance of the kernel computes a product, and with how many blocks: a model of the card chooses.

use std::fmt;

use kiln::prelude::*;

use super::{Factor, kernel::shared_steps::product};

mod model;

/// Numbers along `k` of a step: 128 bytes, the widest row of a swizzle.
const STEP: usize = 64;
/// The fewest rows of a right factor of `wgmma`.
const SMALLEST: usize = 8;

/// How a product is computed: the tile, the cluster, the number of clusters and of whole tiles that each of them computes.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub(super) instance: product::Instance,
    /// Clusters, or single blocks.
    pub(super) blocks: usize,
    /// Whole tiles of each of them, as far as there are tiles; the steps of all others are shared.
    pub(super) waves: usize,
}

/// Clusters of four that an H100 or H200 runs at once, of 33 that its multiprocessors would make: some of its groups of multiprocessors
/// have a number of them that four does not divide (`cuOccupancyMaxActiveClusters`).
const CLUSTERS_OF_FOUR: usize = 30;
/// As many blocks as share a tile are tried one by one, and above it powers of two.
const SHARES: usize = 4;

impl Plan {
    /// The plan for `c = a · bᵀ` of extents `[m, n, k]` that takes the least time by the model; none for an extent of 0.
    pub fn choose<T: Factor>(shape: [usize; 3], multiprocessors: usize) -> Option<Plan> {
        Plan::candidates::<T>(shape, multiprocessors)
            .into_iter()
            .map(|plan| (plan.microseconds(shape, multiprocessors), plan))
            .min_by(|(one, _), (other, _)| one.total_cmp(other))
            .map(|(_, plan)| plan)
    }

    /// The plans that may be best for extents `[m, n, k]`; none for an extent of 0.
    pub fn candidates<T: Factor>([m, n, k]: [usize; 3], multiprocessors: usize) -> Vec<Plan> {
        let steps = k.div_ceil(STEP);
        let mut plans = Vec::new();
        if m == 0 || n == 0 || k == 0 {
            return plans;
        }
        for instance in product::instances().filter(|one| one.T == Dtype::of::<T>()) {
            let plan = Plan { instance, blocks: 1, waves: 0 };
            let [rows, columns] = plan.tile();
            let cluster = plan.cluster();
            // Of a tile less than half lies beyond the result, unless it is a small one.
            let fits = rows < 2 * m.max(SMALLEST) && columns < 4 * n.max(64);
            // Up to 512 rows are at most four tiles: more of them read the weights too often.
            if !fits || 4 * rows < m.min(512) {
                continue;
            }
            let most = match cluster {
                4 => CLUSTERS_OF_FOUR.min(multiprocessors / 4),
                _ => multiprocessors / cluster,
            }
            .max(1);
            let tiles = plan.tiles([m, n]);
            let mut choices = Vec::new();
            if cluster > 1 {
                // Clusters share no tiles.
                choices.push((most.min(tiles), tiles.div_ceil(most)));
            } else if tiles <= most {
                let each = (most / tiles).min(steps);
                let shares =
                    (1..=each).filter(|&s| s <= SHARES || s.is_power_of_two() || s == each);
                choices.extend(shares.map(|share| (tiles * share, 0)));
                choices.push((most.min(tiles * steps), 0));
            } else {
                let waves = tiles / most;
                choices.extend([(most, waves + 1), (most, waves)]);
                // Shares of all tiles are even, but read what other blocks read at other times.
                let right = if instance.SWAP { m } else { n };
                if right <= count(instance.BR) {
                    choices.push((most, waves - 1));
                }
            }
            choices.sort_unstable();
            choices.dedup();
            plans.extend(choices.into_iter().map(|(blocks, waves)| Plan { blocks, waves, ..plan }));
        }
        plans
    }

    /// The rows of `a` and of `b` of a tile: of the tiles of a cluster together, where blocks come in clusters.
    pub fn tile(&self) -> [usize; 2] {
        let (left, right) = (self.instance.BL * self.instance.C, self.instance.BR);
        let [left, right] = [left, right].map(count);
        if self.instance.SWAP { [right, left] } else { [left, right] }
    }

    /// The blocks of a cluster.
    pub fn cluster(&self) -> usize {
        count(self.instance.C)
    }

    /// The number of tiles of a result of shape `[m, n]`.
    pub fn tiles(&self, [m, n]: [usize; 2]) -> usize {
        let [rows, columns] = self.tile();
        m.div_ceil(rows) * n.div_ceil(columns)
    }
}

/// A constant of an instance, which is positive.
pub(super) fn count(constant: i32) -> usize {
    constant.unsigned_abs() as usize
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Plan { instance, blocks, waves } = self;
        let [rows, columns] = self.tile();
        let turned = if instance.SWAP { "t" } else { "" };
        let (cluster, stages) = (instance.C, instance.STAGES);
        write!(
            f,
            "{rows}x{columns}{turned} in {cluster}, {stages} stages, {blocks} blocks, {waves} waves"
        )
    }
}
