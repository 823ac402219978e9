//! Schedules: which tiles of a matrix a block computes, and in which order.
//!
//! Blocks that run at the same time share their reads through the second-level cache, so the order of the tiles decides how often the
//! operands are read. A schedule is a type that numbers tiles. A kernel takes it as a generic parameter `S: Schedule`, and is compiled
//! for each type in `instances(S = [..])`.
//!
//! | schedule | tiles |
//! |---|---|
//! | [`Linear`] | all tiles, row after row |
//! | [`Grouped<G>`](Grouped) | all tiles, `G` rows of tiles together, column after column |
//! | [`Persistent<S>`](Persistent) | this block's share of `S`, for persistent blocks |
//! | [`Clustered<S>`](Clustered) | this block's share of `S` in clusters, whose blocks compute tiles below one another |
//! | [`Dynamic<S>`](Dynamic) | on Blackwell, a tile of `S` and then tiles of blocks that have not started, as long as there are any |
//!
//! They are ordinary device items (see [`device`](macro@crate::device)). Your own order is a type that implements [`Schedule`], and
//! `Persistent<Mine>` distributes it over blocks.
//!
//! ```
//! use kiln::prelude::*;
//! use kiln::sched::{Grouped, Linear, Persistent, Schedule};
//!
//! /// Writes to each tile of 16 x 16 in which place its block computed it.
//! #[kernel(target = sm_80, warps = 1, grid = persistent(cdiv(out.dim(0), 16) * cdiv(out.dim(1), 16)),
//!          instances(S = [Persistent<Linear>, Persistent<Grouped<4>>]))]
//! fn places<S: Schedule>(out: TensorMut<i32, 2>) {
//!     let tiles = S::new(cdiv(out.dim(0), 16), cdiv(out.dim(1), 16));
//!     for i in 0..tiles.count() {
//!         let (row, column) = tiles.tile(i);
//!         out.tile([row * 16, column * 16], [16, 16]).store(full([16, 16], i));
//!     }
//! }
//!
//! let device = Device::emulator(Target::Sm80)?;
//! let stream = device.stream()?;
//! let mut out = stream.full([40, 70], -1)?;
//! places::<Persistent<Grouped<4>>>(places::Args { out: &mut out }).launch(&stream)?;
//! assert!(out.to_vec(&stream)?.iter().all(|&place| place >= 0));
//! # Ok::<(), kiln::Error>(())
//! ```

pub use items::{Claim, Clustered, Dynamic, Grouped, Linear, Persistent, Schedule};

#[kernel_macros::device]
mod items {
    use kiln::lang::{Barriers, Shared, barriers, block_id, cdiv, cluster, num_blocks, shared};

    /// An order of tiles: each number from 0 stands for a row and a column.
    ///
    /// Implement it for your own order, in a `#[device] mod` or in a `#[kernel] mod`:
    ///
    /// ```
    /// use kiln::prelude::*;
    ///
    /// #[device]
    /// mod snake {
    ///     use kiln::sched::Schedule;
    ///
    ///     /// Row after row, there and back.
    ///     #[derive(Clone, Copy)]
    ///     pub struct Snake {
    ///         tiles_m: i32,
    ///         tiles_n: i32,
    ///     }
    ///
    ///     impl Schedule for Snake {
    ///         fn new(tiles_m: i32, tiles_n: i32) -> Self {
    ///             Snake { tiles_m, tiles_n }
    ///         }
    ///
    ///         fn count(self) -> i32 {
    ///             self.tiles_m * self.tiles_n
    ///         }
    ///
    ///         fn tile(self, i: i32) -> (i32, i32) {
    ///             let (row, column) = (i / self.tiles_n, i % self.tiles_n);
    ///             (row, if row % 2 == 0 { column } else { self.tiles_n - 1 - column })
    ///         }
    ///     }
    /// }
    /// ```
    pub trait Schedule: Copy {
        /// The order for a matrix of `tiles_m` rows of tiles, `tiles_n` tiles each.
        fn new(tiles_m: i32, tiles_n: i32) -> Self;
        /// The number of tiles.
        fn count(self) -> i32;
        /// Row and column, in tiles, of tile `i`, from 0 up to [`count`](Schedule::count).
        fn tile(self, i: i32) -> (i32, i32);
    }

    /// All tiles, row after row: for 2 rows of 3 tiles (0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2).
    ///
    /// With one block for each tile, a block computes `tile(block_id(0))`.
    #[derive(Clone, Copy, Debug)]
    pub struct Linear {
        tiles_m: i32,
        tiles_n: i32,
    }

    impl Schedule for Linear {
        fn new(tiles_m: i32, tiles_n: i32) -> Self {
            Linear { tiles_m, tiles_n }
        }

        fn count(self) -> i32 {
            self.tiles_m * self.tiles_n
        }

        fn tile(self, i: i32) -> (i32, i32) {
            (i / self.tiles_n, i % self.tiles_n)
        }
    }

    /// All tiles, `G` rows of tiles together, column after column: for 3 rows of 2 tiles and `G` of 2 (0, 0), (1, 0), (0, 1), (1, 1),
    /// then (2, 0), (2, 1).
    ///
    /// Blocks that run at the same time then cover a squarer part of the matrix, and read fewer rows and columns of the operands. The
    /// last group has the remaining rows.
    #[derive(Clone, Copy, Debug)]
    pub struct Grouped<const G: i32> {
        tiles_m: i32,
        tiles_n: i32,
    }

    impl<const G: i32> Schedule for Grouped<G> {
        fn new(tiles_m: i32, tiles_n: i32) -> Self {
            Grouped { tiles_m, tiles_n }
        }

        fn count(self) -> i32 {
            self.tiles_m * self.tiles_n
        }

        fn tile(self, i: i32) -> (i32, i32) {
            let first_row = i / (G * self.tiles_n) * G;
            let height = (self.tiles_m - first_row).min(G);
            let rest = i % (G * self.tiles_n);
            (first_row + rest % height, rest / height)
        }
    }

    /// This block's share of `S`: of `n` blocks along x, block `b` computes the tiles `b`, `b + n`, `b + 2n` and so on.
    ///
    /// `grid = persistent(tiles)` starts as many blocks as run at once. A block can then load the operands of its next tile while it
    /// finishes the previous one. With one block for each tile, each computes one.
    #[derive(Clone, Copy, Debug)]
    pub struct Persistent<S: Schedule> {
        order: S,
    }

    impl<S: Schedule> Schedule for Persistent<S> {
        fn new(tiles_m: i32, tiles_n: i32) -> Self {
            Persistent { order: S::new(tiles_m, tiles_n) }
        }

        fn count(self) -> i32 {
            cdiv(self.order.count() - block_id(0), num_blocks(0))
        }

        fn tile(self, i: i32) -> (i32, i32) {
            self.order.tile(block_id(0) + i * num_blocks(0))
        }
    }

    /// Like [`Persistent`], for clusters along x, `cluster = [C, 1]`: the blocks of a cluster compute `C` tiles below one another at the
    /// same time, and share what they read of those columns (see [`Copying::multicast`](crate::lang::Copying::multicast)).
    ///
    /// `S` orders columns of `C` tiles. All blocks of a cluster have the same number of tiles, so that they execute the same copies. If
    /// the number of rows of tiles is not a multiple of `C`, some tiles are below the matrix, where loads give zeros and stores do
    /// nothing.
    #[derive(Clone, Copy, Debug)]
    pub struct Clustered<S: Schedule> {
        order: S,
    }

    impl<S: Schedule> Schedule for Clustered<S> {
        fn new(tiles_m: i32, tiles_n: i32) -> Self {
            Clustered { order: S::new(cdiv(tiles_m, cluster::size()), tiles_n) }
        }

        fn count(self) -> i32 {
            cdiv(self.order.count() - cluster::id(0), num_blocks(0) / cluster::size())
        }

        fn tile(self, i: i32) -> (i32, i32) {
            let clusters = num_blocks(0) / cluster::size();
            let (row, column) = self.order.tile(cluster::id(0) + i * clusters);
            (row * cluster::size() + cluster::rank(), column)
        }
    }

    /// A block computes its own tile of `S`, and then those of blocks that have not started
    /// ([`cluster::try_cancel`](kiln::lang::cluster::try_cancel), `sm_100a`). Blocks that finish early take more tiles, and each ends
    /// when none is left.
    ///
    /// The grid has a block for each tile. One partition asks for tiles, two ahead; the others loop over the tiles that the block gets,
    /// each with its own [`Claim`]:
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    /// use kiln::sched::{Dynamic, Linear};
    ///
    /// #[kernel(target = sm_100a, warps = 4, grid = cdiv(x.dim(0), 64) * cdiv(x.dim(1), 64))]
    /// fn double(x: TensorMut<f32, 2>) {
    ///     let tiles = Dynamic::<Linear>::new(cdiv(x.dim(0), 64), cdiv(x.dim(1), 64), 1);
    ///     let work = || {
    ///         let mut claim = tiles.first();
    ///         while claim.more {
    ///             let (row, column) = tiles.tile(claim);
    ///             let tile = x.tile([row * 64, column * 64], [64, 64]);
    ///             tile.store(tile.load() * 2.0);
    ///             claim = tiles.next(claim);
    ///         }
    ///     };
    ///     warp_specialize(work, [partition(1).run(|| tiles.ask())]);
    /// }
    /// ```
    ///
    /// With clusters along x, `cluster = [C, 1]`, the blocks of a cluster compute `C` tiles below one another, as with [`Clustered`]. `S`
    /// orders columns of `C` tiles: the grid has `C * cdiv(tiles_m, C) * tiles_n` blocks.
    #[derive(Clone, Copy, Debug)]
    pub struct Dynamic<S: Schedule> {
        order: S,
        answers: Shared<u32>,
        full: Barriers,
        empty: Barriers,
    }

    /// The current tile of a partition in [`Dynamic`].
    #[derive(Clone, Copy, Debug)]
    pub struct Claim {
        /// Whether there is a tile.
        pub more: bool,
        number: i32,
        turn: i32,
    }

    impl<S: Schedule> Dynamic<S> {
        /// The tiles of a matrix of `tiles_m` rows of tiles, `tiles_n` tiles each; `readers` partitions loop over them beside the one
        /// that asks.
        pub fn new(tiles_m: i32, tiles_n: i32, readers: i32) -> Self {
            Dynamic {
                order: S::new(cdiv(tiles_m, cluster::size()), tiles_n),
                answers: shared([2, 4]),
                full: barriers(2, 1),
                // The asking partition reads the answers too; in a cluster the first block asks when all have read.
                empty: barriers(2, cluster::size() * (readers + 1)),
            }
        }

        /// Asks for tiles until none is left. One partition of each block calls it.
        pub fn ask(self) {
            let mut claim = self.first();
            while claim.more {
                let slot = claim.turn & 1;
                if cluster::rank() == 0 {
                    self.empty[slot].wait(1 - claim.turn / 2 % 2);
                }
                self.full[slot].expect(16);
                cluster::try_cancel(self.answers[slot], self.full[slot]);
                claim = self.next(claim);
            }
        }

        /// The block's own tile.
        pub fn first(self) -> Claim {
            let number = cluster::id(0);
            Claim { more: number < self.order.count(), number, turn: 0 }
        }

        /// Waits for the next tile of the block.
        pub fn next(self, claim: Claim) -> Claim {
            let slot = claim.turn & 1;
            self.full[slot].wait(claim.turn / 2 % 2);
            let taken = cluster::is_canceled(self.answers[slot]);
            let number = cluster::canceled_block_id(self.answers[slot], 0) / cluster::size();
            if cluster::size() > 1 {
                self.empty[slot].of_block(0).arrive();
            } else {
                self.empty[slot].arrive();
            }
            Claim { more: taken && number < self.order.count(), number, turn: claim.turn + 1 }
        }

        /// Row and column, in tiles, of a tile.
        pub fn tile(self, claim: Claim) -> (i32, i32) {
            let (row, column) = self.order.tile(claim.number);
            (row * cluster::size() + cluster::rank(), column)
        }
    }
}
