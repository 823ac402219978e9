//! A library of device code: functions, and a module with types and a trait, for kernels of other crates.
//!
//! What stands here is ordinary Rust, documented and checked where it is written. `#[device]` adds that a kernel which
//! imports it, under whatever name, compiles it into its own PTX: see the example `device_library`.
#![forbid(unsafe_code)]

/// Activation functions.
pub mod act {
    use kiln::prelude::*;

    /// `1 / (1 + exp(-x))`
    #[device]
    pub fn sigmoid<T: Float>(x: Tile<T>) -> Tile<T> {
        T::of(1.0) / (T::of(1.0) + negative_exp(x))
    }

    #[device]
    fn negative_exp<T: Float>(x: Tile<T>) -> Tile<T> {
        (-x).exp()
    }

    /// `x · sigmoid(x)`
    #[device]
    pub fn silu<T: Float>(x: Tile<T>) -> Tile<T> {
        x * sigmoid(x)
    }

    /// `x` where it is above `PERCENT / 100`, elsewhere 0.
    #[device]
    #[expect(clippy::cast_precision_loss, reason = "percents are small")]
    pub fn threshold<T: Float, const PERCENT: i32>(x: Tile<T>) -> Tile<T> {
        select(x.gt(T::of(PERCENT as f32 / 100.0)), x, T::of(0.0))
    }
}

/// Orders in which blocks visit the tiles of a matrix.
#[kiln::device]
pub mod sched {
    use kiln::prelude::*;

    /// An order: which tile a block computes.
    pub trait Schedule: Copy {
        /// Of a matrix of so many tiles.
        fn new(tiles_m: i32, tiles_n: i32) -> Self;
        /// Row and column, in tiles, of the `id`-th tile.
        fn tile(self, id: i32) -> (i32, i32);
    }

    /// Row after row.
    #[derive(Clone, Copy, Debug)]
    pub struct Rows {
        tiles_n: i32,
    }

    impl Schedule for Rows {
        fn new(_tiles_m: i32, tiles_n: i32) -> Self {
            Rows { tiles_n }
        }

        fn tile(self, id: i32) -> (i32, i32) {
            (id / self.tiles_n, id % self.tiles_n)
        }
    }

    /// `G` rows of tiles together, column after column, so that neighbouring blocks share operands.
    #[derive(Clone, Copy, Debug)]
    pub struct Grouped<const G: i32> {
        tiles_m: i32,
        tiles_n: i32,
    }

    impl<const G: i32> Schedule for Grouped<G> {
        fn new(tiles_m: i32, tiles_n: i32) -> Self {
            Grouped { tiles_m, tiles_n }
        }

        fn tile(self, id: i32) -> (i32, i32) {
            let first = id / (G * self.tiles_n) * G;
            let height = (self.tiles_m - first).min(G);
            let rest = id % (G * self.tiles_n);
            (first + rest % height, rest / height)
        }
    }

    /// The tiles of a block that stays: as many blocks as there are share all tiles, in the order of `S`.
    ///
    /// For `grid = persistent(tiles)`: block `b` of `n` computes the tiles `b`, `b + n`, `b + 2n` and so on.
    #[derive(Clone, Copy, Debug)]
    pub struct Persistent<S: Schedule> {
        order: S,
        tiles: i32,
    }

    impl<S: Schedule> Persistent<S> {
        /// Of a matrix of so many tiles.
        pub fn new(tiles_m: i32, tiles_n: i32) -> Self {
            Persistent { order: S::new(tiles_m, tiles_n), tiles: tiles_m * tiles_n }
        }

        /// How many tiles this block computes.
        pub fn count(self) -> i32 {
            cdiv(self.tiles - block_id(0), num_blocks(0))
        }

        /// Row and column of its `i`-th tile.
        pub fn tile(self, i: i32) -> (i32, i32) {
            self.order.tile(block_id(0) + i * num_blocks(0))
        }
    }

    /// As [`Persistent`], for clusters along the rows: the blocks of a cluster compute tiles below one another, so that they share the
    /// columns.
    #[derive(Clone, Copy, Debug)]
    pub struct Clustered<S: Schedule> {
        order: S,
        pairs: i32,
    }

    impl<S: Schedule> Clustered<S> {
        /// Of a matrix of so many tiles; the rows of tiles are a multiple of the cluster's blocks.
        pub fn new(tiles_m: i32, tiles_n: i32) -> Self {
            let rows = cdiv(tiles_m, cluster::size());
            Clustered { order: S::new(rows, tiles_n), pairs: rows * tiles_n }
        }

        /// How many tiles each block of the cluster computes.
        pub fn count(self) -> i32 {
            cdiv(self.pairs - cluster::id(0), num_blocks(0) / cluster::size())
        }

        /// Row and column of this block's `i`-th tile.
        pub fn tile(self, i: i32) -> (i32, i32) {
            let (row, column) =
                self.order.tile(cluster::id(0) + i * (num_blocks(0) / cluster::size()));
            (row * cluster::size() + cluster::rank(), column)
        }
    }

    /// Where a ring of buffers stands: the one in use, and the phase to wait for.
    #[derive(Clone, Copy, Debug)]
    pub struct Ring {
        /// The buffer in use.
        pub slot: i32,
        /// The phase of its barrier that is waited for.
        pub phase: i32,
        len: i32,
    }

    impl Ring {
        /// Of what is read: waits until a buffer has been filled.
        pub fn reader(len: i32) -> Ring {
            Ring { slot: 0, phase: 0, len }
        }

        /// Of what is written: every buffer is free at first.
        pub fn writer(len: i32) -> Ring {
            Ring { slot: 0, phase: 1, len }
        }

        /// The next buffer.
        pub fn advance(&mut self) {
            self.slot += 1;
            if self.slot == self.len {
                self.slot = 0;
                self.phase ^= 1;
            }
        }
    }

    /// The window of a block: which tile it is, in elements.
    pub fn origin<S: Schedule, const BM: i32, const BN: i32>(rows: i32, columns: i32) -> [i32; 2] {
        let (row, column) = S::new(cdiv(rows, BM), cdiv(columns, BN)).tile(block_id(0));
        [row * BM, column * BN]
    }
}
