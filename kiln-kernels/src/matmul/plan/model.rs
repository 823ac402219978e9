//! The time of a plan, by its bytes, operations and waits.

use kiln::prelude::Dtype;

use super::{Plan, STEP};

macro_rules! model {
    ($($(#[$doc:meta])* $name:ident: $h200:expr,)*) => {
        /// What a card does in which time, as far as plans differ by it: microseconds, and bytes and operations a nanosecond.
        ///
        /// [`Model::H200`] was fitted to measured times of plans. Two programs of `benches` fit the model to another card: `products --plans`
        /// measures, and `fit` prints the numbers. Which plan is faster matters more here than the time itself.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct Model {
            $($(#[$doc])* pub $name: f64,)*
        }

        impl Model {
            /// An H200.
            pub const H200: Model = Model { $($name: $h200,)* };

            /// The numbers by their names.
            pub fn numbers(&mut self) -> Vec<(&'static str, &mut f64)> {
                vec![$((stringify!($name), &mut self.$name),)*]
            }
        }
    };
}

model! {
    /// A launch behind another one: the blocks have started and read the tensor maps.
    launch_us: 1.186,
    /// The same, more for clusters of several blocks.
    cluster_us: 0.4277,
    /// What one multiprocessor reads at most from the second-level cache.
    cache_rate_of_one: 253.4,
    /// What it reads from memory.
    memory_rate_of_one: 35.2,
    /// What all multiprocessors together read from the second-level cache.
    cache_rate: 15_982.0,
    /// What all together read from memory.
    memory_rate: 4146.0,
    /// The same for matrices that the second-level cache keeps from one product to the next.
    resident_rate: 6912.0,
    /// The bytes of matrices that it keeps.
    resident_bytes: 39.6e6,
    /// From the start of a copy out of memory until its buffer is full: a ring of buffers is that late.
    latency_us: 1.536,
    /// The same out of the second-level cache.
    cache_latency_us: 1.517,
    /// Operations of one multiprocessor in very large tiles.
    operations: 7900.0,
    /// The elements of a tile of which the tensor cores lose half of their rate.
    lost_of_tile: 2928.0,
    /// A wait at the barriers of a step.
    step_us: 0.04232,
    /// The same, more for each further block of a cluster.
    step_of_cluster_us: 0.0154,
    /// Rows that do not begin at multiples of 128 bytes lie on one more line each.
    ragged: 2.323,
    /// Multiprocessors that wait for others leave some of the memory's bandwidth unused.
    uneven: 0.3847,
    /// How much of what shares read more than once comes from memory: their steps are far apart, so that the second-level cache has lost it.
    apart: 0.02315,
    /// The same of shares beside whole tiles: all blocks read other steps at once.
    scattered: 0.7254,
    /// How much of `b` comes from memory a second time where several rows of tiles read it.
    again: 0.3568,
    /// How sharply the slower of memory and multiprocessors hides the other.
    sharpness: 5.796,
    /// Rounding and storing a tile.
    tile_us: 0.01908,
    /// The same, more for each element.
    number_us: 8.117e-5,
    /// How much of it does not hide behind the next tile.
    shown: 0.4997,
    /// Passing sums of parts of a tile on through memory.
    shared_us: 0.9292,
    /// The same, more for each further block of a cluster.
    shared_of_cluster_us: 0.03131,
    /// The same, more for each element of each part.
    shared_number_us: 1.068e-4,
    /// The same, more if parts begin within tiles.
    spread_us: 1.129,
    /// Passing sums on to the other blocks of a cluster.
    exchange_us: 0.7897,
    /// The same, more for each element of a tile.
    exchange_number_us: 5.001e-6,
}

impl Plan {
    /// The time in microseconds that a model expects of a card with so many multiprocessors.
    #[expect(clippy::cast_precision_loss, reason = "extents are far below 2^52")]
    pub fn microseconds(&self, model: &Model, multiprocessors: usize) -> f64 {
        let Plan { form, shape: [batches, m, n, k], clusters, .. } = *self;
        let [bl, br, cluster] = [form.left, form.right, form.cluster].map(|part| part as f64);
        let split = form.split as f64;
        let of_all = clusters as f64 * split;
        let busy = (of_all * cluster).min(multiprocessors as f64);
        let (tiles, depth) = (self.tiles(), self.depth());
        let own = (tiles - self.shared_tiles()).div_ceil(clusters);
        let shared = self.shared_tiles() * depth;
        let share = shared as f64 / of_all;
        let mut steps = (own * depth) as f64 + share;
        if split > 1.0 {
            // Several blocks of a multiprocessor take turns.
            steps = (steps / split).ceil() * (of_all / multiprocessors as f64).ceil();
        }

        let [of_operands, _, of_result] = form.dtypes.map(Dtype::bytes);
        let once = (batches * (of_operands * (m * k + n * k) + of_result * m * n)) as f64;
        let resident = once <= model.resident_bytes;
        let ragged = if (k * of_operands).is_multiple_of(STEP) { 1.0 } else { model.ragged };
        let bytes = (bl + br / cluster) * STEP as f64 * ragged;
        let rate = model.cache_rate_of_one.min(model.cache_rate / busy);
        // The tensor cores take as long for 128 bytes of any type: these are the operations of bf16.
        let operations = bl * br * STEP as f64;
        let pace = model.operations * bl * br / (bl * br + model.lost_of_tile);
        let behind = model.step_us + model.step_of_cluster_us * (cluster - 1.0);
        let late = if resident { model.cache_latency_us } else { model.latency_us };
        let late = late / form.stages as f64;
        let pace = ((operations / pace).max(bytes / rate) * 1e-3 + behind).max(late);
        let multiplying = steps * pace;

        let (all, one) = if resident {
            (model.resident_rate, model.cache_rate_of_one)
        } else {
            (model.memory_rate, model.memory_rate_of_one)
        };
        let uneven = (steps * busy / cluster / (tiles * depth) as f64).max(1.0) - 1.0;
        let of_shares = shared as f64 * bytes / ragged * cluster;
        let mut reading = once / all.min(one * busy) * (1.0 + model.uneven * uneven)
            + model.apart * (of_shares - once).max(0.0) / all;
        if self.tile()[0] < m {
            reading += model.again * (of_operands * batches * n * k) as f64 / all;
        }

        let sharpness = model.sharpness;
        let both = |multiplying: f64, reading: f64| {
            let sum = multiplying.powf(sharpness) + (reading * 1e-3).powf(sharpness);
            sum.powf(sharpness.recip())
        };
        let main = if own > 0 && shared > 0 && !resident {
            let part = share / steps;
            let scattered = (reading * part).max(model.scattered * of_shares / all);
            both(multiplying * (1.0 - part), reading * (1.0 - part))
                + both(multiplying * part, scattered)
        } else {
            both(multiplying, reading)
        };
        let stores =
            model.tile_us + model.number_us * bl * br * (model.shown * own as f64).max(1.0);
        let alike = shared.is_multiple_of(clusters);
        let passing = if split > 1.0 {
            model.exchange_us + model.exchange_number_us * bl * br
        } else {
            model.passing(depth as f64, share, alike, bl * br, cluster)
        };
        let in_clusters = cluster > 1.0 || split > 1.0;
        let launch = model.launch_us + if in_clusters { model.cluster_us } else { 0.0 };
        launch + main + stores + passing
    }
}

impl Model {
    /// The time in which shares of `share` steps of tiles of `depth` steps pass their sums on.
    fn passing(&self, depth: f64, share: f64, alike: bool, numbers: f64, cluster: f64) -> f64 {
        if share == 0.0 || share % depth == 0.0 {
            return 0.0;
        }
        let exact = alike && share < depth && depth % share == 0.0;
        let parts = if share < depth { (depth / share).ceil() } else { 1.0 };
        let parts = if exact { parts } else { parts + 1.0 };
        let spread = if exact { 0.0 } else { self.spread_us };
        let shared = self.shared_us + self.shared_of_cluster_us * (cluster - 1.0);
        shared + self.shared_number_us * numbers * (parts.max(2.0) + 1.0) + spread
    }
}
