//! Which instance of the kernel computes a product, and with how many blocks: a model of the card chooses.

use std::fmt;

use kiln::prelude::*;

use super::{Half, Major, kernel::shared_steps::product};
use crate::shape::extent;

mod model;

pub use model::Model;

/// Elements along `k` of a step: 128 bytes, the widest row of a swizzle.
const STEP: usize = 64;

/// How a product is computed: the tile, the cluster, the number of clusters and of whole tiles that each of them computes.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub(super) instance: product::Instance,
    /// The extents `[batch, m, n, k]` that it is for, and how `a` and `b` lie in memory.
    pub(super) shape: [usize; 4],
    pub(super) majors: [Major; 2],
    /// Clusters; a single block is a cluster of one.
    pub(super) clusters: usize,
    /// Whole tiles of each of them, as far as there are tiles; the steps of all others are shared.
    pub(super) waves: usize,
}

/// Clusters of four that an H200 of 132 multiprocessors runs at once (`cuOccupancyMaxActiveClusters`), where 33 would take all of them: four
/// does not divide the number of multiprocessors in each of its groups.
const CLUSTERS_OF_FOUR: usize = 30;
/// Up to so many blocks for a tile every number is tried; above it, powers of two and the largest.
const SHARES: usize = 4;

impl Plan {
    /// The plan for `c = a · bᵀ` of extents `[batch, m, n, k]` that takes the least time by [`Model::H200`]; none for an extent of 0.
    pub fn choose<T: Half>(
        shape: [usize; 4],
        majors: [Major; 2],
        multiprocessors: usize,
    ) -> Option<Plan> {
        Plan::candidates::<T>(shape, majors, multiprocessors)
            .into_iter()
            .map(|plan| (plan.microseconds(&Model::H200, multiprocessors), plan))
            .min_by(|(one, _), (other, _)| one.total_cmp(other))
            .map(|(_, plan)| plan)
    }

    /// The plans that may be best for extents `[batch, m, n, k]`, with a batch of 1 for single matrices; none for an extent of 0. `majors` are those of `a` and `b`.
    pub fn candidates<T: Half>(
        shape: [usize; 4],
        majors: [Major; 2],
        multiprocessors: usize,
    ) -> Vec<Plan> {
        let [_, m, n, k] = shape;
        let steps = k.div_ceil(STEP);
        let mut plans = Vec::new();
        if shape.contains(&0) {
            return plans;
        }
        let usable: Vec<Plan> = product::instances()
            .filter(|instance| instance.T == Dtype::of::<T>())
            .map(|instance| Plan { instance, shape, majors, clusters: 1, waves: 0 })
            .filter(|plan| plan.of_operands() == majors)
            .collect();
        let smallest = usable.iter().map(|plan| plan.tile()[0]).min().unwrap_or(0);
        for plan in usable {
            let [rows, columns] = plan.tile();
            let cluster = plan.cluster();
            // Half of the rows of a tile lie in the result, unless it is the smallest, and a quarter of its columns.
            let fits = rows < 2 * m.max(smallest) && columns < 4 * n.max(64);
            // Up to 512 rows are at most four tiles: more of them read the weights too often.
            if !fits || 4 * rows < m.min(512) {
                continue;
            }
            let most = match cluster {
                4 => CLUSTERS_OF_FOUR.min(multiprocessors / 4),
                _ => multiprocessors / cluster,
            }
            .max(1);
            let tiles = plan.tiles();
            let mut choices = Vec::new();
            if tiles <= most {
                let each = (most / tiles).min(steps);
                let shares =
                    (1..=each).filter(|&s| s <= SHARES || s.is_power_of_two() || s == each);
                choices.extend(shares.map(|share| (tiles * share, 0)));
                choices.push((most.min(tiles * steps), 0));
            } else {
                let waves = tiles / most;
                choices.extend([(most, waves + 1), (most, waves)]);
                // Shares of all tiles are even, but read what other blocks read at other times.
                let right = if plan.instance.SWAP { m } else { n };
                if right <= extent(plan.instance.BR) {
                    choices.push((most, waves - 1));
                }
            }
            choices.sort_unstable();
            choices.dedup();
            plans.extend(choices.into_iter().map(|(clusters, waves)| Plan {
                clusters,
                waves,
                ..plan
            }));
        }
        plans
    }

    /// The rows of `a` and of `b` of a tile: of the tiles of a cluster together, where blocks come in clusters.
    pub fn tile(&self) -> [usize; 2] {
        let (left, right) = (self.instance.BL * self.instance.C, self.instance.BR);
        let [left, right] = [left, right].map(extent);
        if self.instance.SWAP { [right, left] } else { [left, right] }
    }

    /// How the instance has `a` and `b` lie in memory.
    fn of_operands(&self) -> [Major; 2] {
        let [left, right] = [self.instance.LEFT_K, self.instance.RIGHT_K]
            .map(|along_k| if along_k { Major::K } else { Major::Rows });
        if self.instance.SWAP { [right, left] } else { [left, right] }
    }

    /// The blocks of a cluster.
    pub fn cluster(&self) -> usize {
        extent(self.instance.C)
    }

    /// The number of tiles.
    pub fn tiles(&self) -> usize {
        let ([rows, columns], [batches, m, n, _]) = (self.tile(), self.shape);
        batches * m.div_ceil(rows) * n.div_ceil(columns)
    }

    /// The number of tiles whose steps are shared.
    pub(super) fn shared_tiles(&self) -> usize {
        self.tiles().saturating_sub(self.waves * self.clusters)
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Plan { instance, clusters, waves, .. } = self;
        let [rows, columns] = self.tile();
        let turned = if instance.SWAP { "t" } else { "" };
        let (blocks, stages) = (clusters * self.cluster(), instance.STAGES);
        let cluster = instance.C;
        write!(
            f,
            "{rows}x{columns}{turned} in {cluster}, {stages} stages, {blocks} blocks, {waves} waves"
        )
    }
}
