//! Sums of shares of `k`: how many there are, and how blocks store and add them.

use kiln::prelude::*;

use super::{QuantizedMatmul, count};

/// The bytes of a row of weights of a step.
const STEP: usize = 128;
/// Shares of `k` are no shorter than so many steps.
const SHORTEST: usize = 2;

/// There are no more shares than so many: their sums are written and read again.
const MOST: usize = 8;

/// What a kernel takes to share `k`.
pub(super) struct Sharing<'a> {
    pub(super) parts: TensorViewMut<'a, f32, 4>,
    pub(super) arrived: &'a mut DeviceTensor<i32, 1>,
    pub(super) shares: i32,
}

impl QuantizedMatmul {
    /// Launches a kernel of so many tiles of `[rows, columns]` sums, of weights with so many bytes in a row.
    pub(super) fn share(
        &mut self,
        stream: &Stream,
        tiles: usize,
        [rows, columns]: [usize; 2],
        bytes: usize,
        launch: impl FnOnce(Sharing<'_>) -> Result<()>,
    ) -> Result<()> {
        let shares = shares(tiles, bytes, self.multiprocessors.max(1));
        let tiles = if shares > 1 { tiles } else { 0 };
        let sums = tiles * shares * rows * columns;
        let count = count(shares)?;
        self.scratch.launch(stream, sums, tiles, |parts, arrived| {
            let parts = parts.into_reshape([tiles, shares, rows, columns])?;
            launch(Sharing { parts, arrived, shares: count })
        })
    }
}

/// Into how many shares `k` is split, so that multiprocessors have as few steps as possible, each of `STEP` bytes of a row of weights.
fn shares(tiles: usize, bytes: usize, multiprocessors: usize) -> usize {
    let steps = bytes.div_ceil(STEP);
    let time = |shares: usize| {
        let blocks = (tiles * shares).div_ceil(multiprocessors);
        // One block alone leaves a multiprocessor idle now and then. A further share costs about a hundredth more.
        let alone = if blocks == 1 { 13 } else { 10 };
        blocks * steps.div_ceil(shares) * alone * (100 + shares)
    };
    (1..=(steps / SHORTEST).clamp(1, MOST)).min_by_key(|&shares| time(shares)).unwrap_or(1)
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

#[cfg(test)]
mod tests {
    use super::shares;

    #[test]
    fn multiprocessors_have_equal_shares() {
        for (tiles, bytes, required) in
            [(32, 2048, 8), (112, 2048, 8), (264, 2048, 1), (1, 128, 1), (1, 0, 1)]
        {
            assert_eq!(shares(tiles, bytes, 132), required, "{tiles} tiles of {bytes} bytes");
        }
    }
}
