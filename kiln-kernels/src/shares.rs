//! Sums of shares of `k`: how many there are, and how blocks store and add them.

/// The bytes of a row of an operand of a step.
const STEP: usize = 128;
/// Shares of `k` are no shorter than so many steps.
const SHORTEST: usize = 2;
/// There are no more shares than so many: their sums are written and read again.
const MOST: usize = 8;

/// Into how many shares `k` is split, so that multiprocessors have as few steps as possible, each of `STEP` bytes of a row of an operand.
pub(crate) fn shares(tiles: usize, bytes: usize, multiprocessors: usize) -> usize {
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
            self.store(sums, 0, parts);
            self.count(arrived)
        }

        /// Stores sums of columns from `column` on to the share's place in `parts`.
        pub(crate) fn store<A: Number>(self, sums: Tile<A>, column: i32, parts: TensorMut<A, 4>) {
            let [rows, columns] = [sums.dim(0), sums.dim(1)];
            let window = parts.tile([self.tile, self.at, 0, column], [1, 1, rows, columns]);
            window.store(sums.reshape([1, 1, rows, columns]));
        }

        /// Counts the share in `arrived`. Whether all shares of the tile are there.
        pub(crate) fn count(self, arrived: TensorMut<i32, 1>) -> bool {
            let arrived = arrived.tile([self.tile], [1]);
            let last = arrived.acq_rel().atomic_add(full([1], 1)).item() == self.shares - 1;
            if last {
                arrived.store(full([1], 0));
            }
            last
        }

        /// The sums of all shares, added in their order.
        pub(crate) fn all<A: Number>(self, shape: [i32; 2], parts: TensorMut<A, 4>) -> Tile<A> {
            self.sums(shape, 0, parts)
        }

        /// Those of columns from `column` on. Four loads are in flight; after the last share there are zeros.
        pub(crate) fn sums<A: Number>(
            self,
            [rows, columns]: [i32; 2],
            column: i32,
            parts: TensorMut<A, 4>,
        ) -> Tile<A> {
            let mut sums = zeros::<A>([rows, columns]);
            for first in range(0, self.shares, 4) {
                for i in unroll(0..4) {
                    let at = [self.tile, first + i, 0, column];
                    sums += parts.tile(at, [1, 1, rows, columns]).load().reshape([rows, columns]);
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
