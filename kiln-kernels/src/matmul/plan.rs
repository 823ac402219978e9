//! Which instance of the kernel computes a product, and with how many blocks: a model of the card chooses.

use std::fmt;

use kiln::prelude::*;

use super::{
    Major, Sums,
    kernel::shared_steps::{product, split},
};
use crate::{
    Operand, Real,
    shape::{clusters_at_once, extent},
};

mod model;

pub use model::Model;

/// Bytes of a row of an operand in a step, the widest row of a swizzle.
const STEP: usize = 128;

/// How a product is computed: the tile, the cluster, the number of clusters and of whole tiles that each of them computes.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub(super) instance: Instance,
    pub(super) form: Form,
    /// The extents `[batch, m, n, k]` that it is for, and how `a` and `b` lie in memory.
    pub(super) shape: [usize; 4],
    pub(super) majors: [Major; 2],
    /// Clusters; a single block is a cluster of one.
    pub(super) clusters: usize,
    /// Whole tiles of each of them, as far as there are tiles; the steps of all others are shared.
    pub(super) waves: usize,
}

/// A kernel for a tile.
#[derive(Clone, Copy, Debug)]
pub(super) enum Instance {
    /// Persistent clusters.
    Shares(product::Instance),
    /// Clusters whose blocks share the steps of a tile.
    Split(split::Instance),
}

/// What an instance computes at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    /// The types of the left operand, of the right one and of the result.
    dtypes: [Dtype; 3],
    /// How sums of FP8 products are computed.
    sums: Sums,
    /// Rows of the left operand and of the right one in the tile of a block.
    pub(super) left: usize,
    pub(super) right: usize,
    pub(super) stages: usize,
    /// The left operand is `b`.
    pub(super) swap: bool,
    /// Blocks of a cluster, which compute tiles below one another.
    pub(super) cluster: usize,
    /// Blocks of a cluster, which share the steps of a tile.
    pub(super) split: usize,
    /// How the instance has the left operand and the right one lie in memory.
    majors: [Major; 2],
}

impl Form {
    fn of_shares(i: product::Instance) -> Form {
        let majors = [i.LEFT_K, i.RIGHT_K].map(|k| if k { Major::K } else { Major::Rows });
        let [left, right, stages, cluster] = [i.BL, i.BR + i.X, i.STAGES, i.C].map(extent);
        let sums = if i.FAST { Sums::Fast } else { Sums::Precise };
        Form {
            dtypes: [i.T, i.U, i.R],
            sums,
            left,
            right,
            stages,
            swap: i.SWAP,
            cluster,
            split: 1,
            majors,
        }
    }

    fn of_split(i: split::Instance) -> Form {
        let [left, right, stages, split] = [i.BL, i.BR, i.STAGES, i.S].map(extent);
        Form {
            dtypes: [i.T, i.U, i.R],
            sums: Sums::Precise,
            left,
            right,
            stages,
            swap: i.SWAP,
            cluster: 1,
            split,
            majors: [Major::K; 2],
        }
    }

    /// The types of `a`, of `b` and of the result.
    fn dtypes_of_product(&self) -> [Dtype; 3] {
        let [left, right, result] = self.dtypes;
        if self.swap { [right, left, result] } else { self.dtypes }
    }

    /// Whether a block has the tile of another form, whatever the cluster and the sums are.
    fn is_tile_of(&self, other: &Form) -> bool {
        (self.left, self.right, self.swap) == (other.left, other.right, other.swap)
    }
}

/// Shared memory of a multiprocessor of Hopper.
const SHARED_BYTES: usize = 227 * 1024;
/// Up to so many blocks for a tile every number is tried; above it, powers of two and the largest.
const SHARES: usize = 4;

impl Plan {
    /// The plan for `c = a · bᵀ` of extents `[batch, m, n, k]` that takes the least time by [`Model::H200`]; none for an extent of 0.
    pub fn choose<A: Operand<O, B>, B: Element, O: Real>(
        shape: [usize; 4],
        majors: [Major; 2],
        sums: Sums,
        multiprocessors: usize,
    ) -> Option<Plan> {
        let types = [Dtype::of::<A>(), Dtype::of::<B>(), Dtype::of::<O>()];
        Plan::choose_of(types, shape, majors, sums, multiprocessors)
    }

    /// [`choose`](Plan::choose) for types of `a`, `b` and the result.
    pub(super) fn choose_of(
        types: [Dtype; 3],
        shape: [usize; 4],
        majors: [Major; 2],
        sums: Sums,
        multiprocessors: usize,
    ) -> Option<Plan> {
        Plan::candidates_of(types, shape, majors, sums, multiprocessors)
            .into_iter()
            .map(|plan| (plan.microseconds(&Model::H200, multiprocessors), plan))
            .min_by(|(one, _), (other, _)| one.total_cmp(other))
            .map(|(_, plan)| plan)
    }

    /// The plans that may be best for extents `[batch, m, n, k]`, with a batch of 1 for single matrices; none for an extent of 0. `majors`
    /// are those of `a` and `b`, `A` and `B` their types. Fast sums have tiles of their own, and the other tiles of precise ones.
    pub fn candidates<A: Operand<O, B>, B: Element, O: Real>(
        shape: [usize; 4],
        majors: [Major; 2],
        sums: Sums,
        multiprocessors: usize,
    ) -> Vec<Plan> {
        let types = [Dtype::of::<A>(), Dtype::of::<B>(), Dtype::of::<O>()];
        Plan::candidates_of(types, shape, majors, sums, multiprocessors)
    }

    fn candidates_of(
        types: [Dtype; 3],
        shape: [usize; 4],
        majors: [Major; 2],
        sums: Sums,
        multiprocessors: usize,
    ) -> Vec<Plan> {
        let [_, m, n, k] = shape;
        let steps = (k * types[0].bytes()).div_ceil(STEP);
        let mut plans = Vec::new();
        if shape.contains(&0) {
            return plans;
        }
        let usable = Plan::usable(types, shape, majors, sums);
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
            let most = clusters_at_once(cluster, multiprocessors);
            let tiles = plan.tiles();
            if plan.form.split > 1 {
                // A cluster computes one tile, and all clusters run at once.
                if tiles <= plan.most_split(multiprocessors) && plan.form.split <= steps {
                    plans.push(Plan { clusters: tiles, waves: 1, ..plan });
                }
                continue;
            }
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
                let right = if plan.form.swap { m } else { n };
                if right <= plan.form.right {
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

    /// The instances for such operands, as plans without clusters.
    fn usable(types: [Dtype; 3], shape: [usize; 4], majors: [Major; 2], sums: Sums) -> Vec<Plan> {
        let shares = product::instances().map(|i| (Instance::Shares(i), Form::of_shares(i)));
        let split = split::instances().map(|i| (Instance::Split(i), Form::of_split(i)));
        let all: Vec<Plan> = (shares.chain(split))
            .filter(|(_, form)| form.dtypes_of_product() == types)
            .map(|(instance, form)| Plan { instance, form, shape, majors, clusters: 1, waves: 0 })
            .filter(|plan| plan.of_operands() == majors)
            .collect();
        let (fast, precise): (Vec<Plan>, Vec<Plan>) =
            all.into_iter().partition(|plan| plan.form.sums == Sums::Fast);
        match sums {
            Sums::Precise => precise,
            Sums::Fast => {
                let has_fast =
                    |plan: &Plan| fast.iter().any(|other| plan.form.is_tile_of(&other.form));
                let others: Vec<Plan> =
                    precise.into_iter().filter(|plan| !has_fast(plan)).collect();
                [fast, others].concat()
            }
        }
    }

    /// The rows of `a` and of `b` of a tile: of the tiles of a cluster together, where blocks come in clusters.
    pub fn tile(&self) -> [usize; 2] {
        let Form { left, right, swap, cluster, .. } = self.form;
        if swap { [right, left * cluster] } else { [left * cluster, right] }
    }

    /// How the instance has `a` and `b` lie in memory.
    fn of_operands(&self) -> [Major; 2] {
        let [left, right] = self.form.majors;
        if self.form.swap { [right, left] } else { [left, right] }
    }

    /// The blocks of a cluster, which compute tiles below one another.
    pub fn cluster(&self) -> usize {
        self.form.cluster
    }

    /// The clusters that share the steps of tiles, of which all run at once.
    fn most_split(&self, multiprocessors: usize) -> usize {
        let Form { left, right, stages, split, .. } = self.form;
        let bytes = stages * (left + right) * STEP + left * right * 4;
        let resident = (SHARED_BYTES / bytes).max(1);
        clusters_at_once(split, multiprocessors) * resident
    }

    /// The number of tiles.
    pub fn tiles(&self) -> usize {
        let ([rows, columns], [batches, m, n, _]) = (self.tile(), self.shape);
        batches * m.div_ceil(rows) * n.div_ceil(columns)
    }

    /// The tiles of one product along the left operand and along the right one.
    pub(super) fn rows_and_columns(&self) -> [usize; 2] {
        let ([rows, columns], [_, m, n, _]) = (self.tile(), self.shape);
        let [of_a, of_b] = [m.div_ceil(rows), n.div_ceil(columns)];
        if self.form.swap { [of_b, of_a] } else { [of_a, of_b] }
    }

    /// The steps of the tiles whose steps are shared.
    pub(super) fn shared_steps(&self) -> usize {
        self.shared_tiles() * self.depth()
    }

    /// The steps of a tile along `k`.
    fn depth(&self) -> usize {
        (self.shape[3] * self.form.dtypes[0].bytes()).div_ceil(STEP)
    }

    /// The number of tiles whose steps are shared.
    pub(super) fn shared_tiles(&self) -> usize {
        self.tiles().saturating_sub(self.waves * self.clusters)
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Plan { form, clusters, waves, .. } = self;
        let Form { stages, swap, cluster, split, .. } = form;
        let [rows, columns] = self.tile();
        let turned = if *swap { "t" } else { "" };
        let fast = match form.sums {
            Sums::Precise => "",
            Sums::Fast => ", fast sums",
        };
        let blocks = clusters * cluster * split;
        if *split > 1 {
            return write!(
                f,
                "{rows}x{columns}{turned} split in {split}, {stages} stages, {blocks} blocks"
            );
        }
        write!(
            f,
            "{rows}x{columns}{turned} in {cluster}, {stages} stages, {blocks} blocks, {waves} waves{fast}"
        )
    }
}
