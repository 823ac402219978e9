//! Sums of shares of `k`: scratch memory for them, and how blocks store and add them.

use kiln::prelude::*;

use super::count;

/// Shares of `k` are no shorter than so many bytes of weights of one row.
const SHORTEST: usize = 256;

/// There are no more shares than so many: their sums are written and read again.
const MOST: usize = 8;

/// Scratch memory, which products keep.
#[derive(Debug)]
pub(super) struct Scratch {
    /// Blocks of a kernel that run at once.
    blocks: usize,
    /// Sums of shares of tiles, of 32 bits each.
    parts: DeviceTensor<f32, 1>,
    /// How many shares of each tile have been stored: zero between products.
    arrived: DeviceTensor<i32, 1>,
    /// A launch has failed, which may have left counts.
    spoilt: bool,
}

/// What a kernel takes to share `k`.
pub(super) struct Sharing<'a> {
    pub(super) parts: TensorViewMut<'a, f32, 4>,
    pub(super) arrived: &'a mut DeviceTensor<i32, 1>,
    pub(super) shares: i32,
}

impl Scratch {
    pub(super) fn new(stream: &Stream, blocks: usize) -> Result<Scratch> {
        let (parts, arrived) = (stream.empty([0])?, stream.zeros([0])?);
        Ok(Scratch { blocks, parts, arrived, spoilt: false })
    }

    /// Launches a kernel of so many tiles of `[rows, columns]` sums, of weights with so many bytes in a row.
    pub(super) fn launch(
        &mut self,
        stream: &Stream,
        tiles: usize,
        [rows, columns]: [usize; 2],
        bytes: usize,
        launch: impl FnOnce(Sharing<'_>) -> Result<()>,
    ) -> Result<()> {
        let shares = shares(tiles, bytes, self.blocks);
        let counts = if shares > 1 { tiles } else { 0 };
        let numbers = counts * shares * rows * columns;
        if self.parts.len() < numbers {
            self.parts = stream.empty([numbers])?;
        }
        if self.arrived.len() < counts || self.spoilt {
            self.arrived = stream.zeros([counts])?;
            self.spoilt = false;
        }
        let mut parts = self.parts.slice_mut(0, 0..numbers)?;
        let parts = parts.reshape_mut([counts, shares, rows, columns])?;
        let shares = count(shares)?;
        let launched = launch(Sharing { parts, arrived: &mut self.arrived, shares });
        if launched.is_err() {
            // What was stopped may have counted shares that nobody will add.
            self.spoilt = true;
        }
        launched
    }
}

/// Into how many shares `k` is split, so that as few as possible of the places for blocks are empty.
fn shares(tiles: usize, bytes: usize, places: usize) -> usize {
    let most = (bytes / SHORTEST).clamp(1, MOST);
    // Each wave takes a share of the time of a tile. A further share costs about a hundredth more.
    let time = |shares: usize| (tiles * shares).div_ceil(places) * (100 + shares) * 1000 / shares;
    (1..=most).min_by_key(|&shares| time(shares)).unwrap_or(1)
}

#[kiln::device]
pub(crate) mod items {
    use kiln::prelude::*;

    /// The tile of sums that a block computes, of `shares` of its `k`, and which of them.
    #[derive(Clone, Copy)]
    pub(crate) struct Share {
        pub(crate) tile: i32,
        pub(crate) at: i32,
        pub(crate) shares: i32,
    }

    impl Share {
        /// Which steps are in this share, of so many.
        pub(crate) fn steps(self, steps: i32) -> (i32, i32) {
            (steps * self.at / self.shares, steps * (self.at + 1) / self.shares)
        }

        /// Stores sums to the share's place in `parts`, and counts it in `arrived`. Whether all shares of the tile are there.
        pub(crate) fn put<A: Number>(
            self,
            sums: Tile<A>,
            parts: TensorMut<A, 4>,
            arrived: TensorMut<i32, 1>,
        ) -> bool {
            let [rows, columns] = [sums.dim(0), sums.dim(1)];
            let window = parts.tile([self.tile, self.at, 0, 0], [1, 1, rows, columns]);
            window.store(sums.reshape([1, 1, rows, columns]));
            let arrived = arrived.tile([self.tile], [1]);
            let last = arrived.acq_rel().atomic_add(full([1], 1)).item() == self.shares - 1;
            if last {
                arrived.store(full([1], 0));
            }
            last
        }

        /// The sums of all shares, added in their order. Four loads are in flight; after the last share there are zeros.
        pub(crate) fn all<A: Number>(
            self,
            [rows, columns]: [i32; 2],
            parts: TensorMut<A, 4>,
        ) -> Tile<A> {
            let mut sums = zeros::<A>([rows, columns]);
            for first in range(0, self.shares, 4) {
                for i in unroll(0..4) {
                    let window = parts.tile([self.tile, first + i, 0, 0], [1, 1, rows, columns]);
                    sums += window.load().reshape([rows, columns]);
                }
            }
            sums
        }
    }
}
