//! Which tiles a block computes, and what is done with their sums: what all kernels share.

#![expect(clippy::float_cmp, reason = "a factor of 1 changes nothing")]

use kiln::prelude::*;

#[device]
pub(crate) mod items {
    use kiln::{
        lang::{Float, Tensor, Tile, arange, cdiv, cluster, select},
        sched::{Grouped, Schedule},
    };

    use crate::activation::by_number::chosen;

    /// One expert after the other, and the tiles of those before.
    #[derive(Clone, Copy)]
    pub(crate) struct Walk {
        offsets: Tensor<i32, 1>,
        experts: i32,
        /// The rows that there are.
        rows: i32,
        pub(crate) expert: i32,
        /// Its rows.
        pub(crate) begin: i32,
        pub(crate) end: i32,
        /// How many tiles the experts before it have.
        before: i32,
    }

    impl Walk {
        pub(crate) fn new(offsets: Tensor<i32, 1>, experts: i32, rows: i32) -> Walk {
            let begin = offsets.tile([0], [1]).load().item().max(0).min(rows);
            let mut walk = Walk { offsets, experts, rows, expert: 0, begin, end: begin, before: 0 };
            walk.end = walk.end_of(0);
            walk
        }

        /// Where the rows of an expert end: within the tensor and not before those of the expert before, whatever the offsets are.
        fn end_of(&self, expert: i32) -> i32 {
            self.offsets.tile([expert + 1], [1]).load().item().min(self.rows).max(self.end)
        }

        /// Goes on to the next expert.
        pub(crate) fn advance(&mut self) {
            self.expert += 1;
            self.begin = self.end;
            self.end = self.end_of(self.expert);
        }

        /// Goes on to an expert with a number that is not below that of the call before.
        pub(crate) fn reach(&mut self, expert: i32) {
            while self.expert < expert {
                self.advance();
            }
        }

        /// Whether there is an expert with this number.
        pub(crate) fn is_at_expert(&self) -> bool {
            self.expert < self.experts
        }

        /// Goes on to the expert of a tile, which is not before the tile of the call before. Tiles have `height` rows, and there are
        /// `columns` beside one another. It says whether there is such a tile.
        pub(crate) fn seek(&mut self, tile: i32, height: i32, columns: i32) -> bool {
            let mut tiles = cdiv(self.end - self.begin, height) * columns;
            while self.is_at_expert() && tile >= self.before + tiles {
                self.before += tiles;
                self.advance();
                tiles = cdiv(self.end - self.begin, height) * columns;
            }
            self.is_at_expert()
        }

        /// The row and the column of a tile among those of its expert. Blocks that run at once read few rows of weights.
        pub(crate) fn place(&self, tile: i32, height: i32, columns: i32) -> (i32, i32) {
            let order = Grouped::<16>::new(cdiv(self.end - self.begin, height), columns);
            order.tile(tile - self.before)
        }
    }

    /// Which rows of `a` are multiplied, and to which rows of `c` they go. Lists without numbers are as good as the rows' own numbers.
    #[derive(Clone, Copy)]
    pub(crate) struct Lists {
        pub(crate) gather: Tensor<i32, 1>,
        pub(crate) scatter: Tensor<i32, 1>,
    }

    impl Lists {
        /// The rows of `a` for as many rows as `count`, a constant.
        pub(crate) fn sources(self, row: i32, count: i32) -> Tile<i32> {
            if self.gather.dim(0) > 0 {
                self.gather.tile([row], [count]).load()
            } else {
                row + arange(0, count)
            }
        }

        /// The rows of `c` for as many rows as `count`, a constant; -1, which is no row, for those that are not before `end`.
        pub(crate) fn targets(self, row: i32, end: i32, count: i32) -> Tile<i32> {
            let own = row + arange(0, count);
            let mut to = own;
            if self.scatter.dim(0) > 0 {
                to = self.scatter.tile([row], [count]).load();
            }
            select(own.lt(end), to, -1)
        }
    }

    /// The tiles of the gradients of the weights of all experts, which have the same number of them.
    #[derive(Clone, Copy)]
    pub(crate) struct TilesOfAll {
        experts: i32,
        rows: i32,
        columns: i32,
    }

    impl TilesOfAll {
        pub(crate) fn new(experts: i32, rows: i32, columns: i32) -> TilesOfAll {
            TilesOfAll { experts, rows, columns }
        }

        pub(crate) fn count(&self) -> i32 {
            self.experts * self.rows * self.columns
        }

        /// The expert of a tile, and its row and column of tiles.
        pub(crate) fn place(&self, tile: i32) -> (i32, i32, i32) {
            let expert = tile / (self.rows * self.columns);
            let order = Grouped::<16>::new(self.rows, self.columns);
            let (row, column) = order.tile(tile - expert * self.rows * self.columns);
            (expert, row, column)
        }

        /// [`place`] for a block of a cluster of `C`, whose tiles are below one another.
        pub(crate) fn place_of<const C: i32>(&self, tile: i32) -> (i32, i32, i32) {
            let (expert, mut row, column) = self.place(tile);
            if C > 1 {
                row = row * C + cluster::rank();
            }
            (expert, row, column)
        }
    }

    /// What is done with sums before they are rounded: `weight · activation(scale · sum + bias)`.
    #[derive(Clone, Copy)]
    pub(crate) struct Epilogue<R: Float> {
        pub(crate) scale: f32,
        /// A number for each column of each expert; none is as good as zeros.
        pub(crate) bias: Tensor<R, 2>,
        pub(crate) activation: i32,
        /// A factor of each row; none is as good as ones.
        pub(crate) weights: Tensor<f32, 1>,
    }

    impl<R: Float> Epilogue<R> {
        /// Whether sums are stored as they are.
        pub(crate) fn is_plain(self) -> bool {
            let no_factors = self.weights.dim(0) == 0 && self.scale == 1.0;
            no_factors && self.bias.dim(0) == 0 && self.activation < 0
        }

        /// The numbers of a tile whose corner is at a row and a column. With `SWAP` the tile is the transpose.
        pub(crate) fn value<const SWAP: bool>(
            self,
            sums: Tile<f32>,
            expert: i32,
            row: i32,
            column: i32,
        ) -> Tile<f32> {
            // The axes along which rows follow each other, and columns.
            let (down, across) = if SWAP { (1, 0) } else { (0, 1) };
            let (rows, columns) = (sums.dim(down), sums.dim(across));
            let mut y = sums * self.scale;
            if self.bias.dim(0) > 0 {
                let bias = self.bias.tile([expert, column], [1, columns]).load().reshape([columns]);
                y += bias.cast::<f32>().expand(down);
            }
            y = chosen::<R>(y, self.activation);
            if self.weights.dim(0) > 0 {
                y *= self.weights.tile([row], [rows]).load().expand(across);
            }
            y
        }
    }

    /// The scales of rows of FP8 numbers: of `a`, `[rows, 1]`, and of the weights, `[experts, n, 1]`.
    #[derive(Clone, Copy)]
    pub(crate) struct Scales {
        pub(crate) a: Tensor<f32, 2>,
        pub(crate) b: Tensor<f32, 3>,
    }

    impl Scales {
        /// Those of as many rows of `a` as `count`, a constant, from one on.
        pub(crate) fn of_rows(self, row: i32, count: i32) -> Tile<f32> {
            self.a.tile([row, 0], [count, 1]).load().reshape([count])
        }

        /// Those of rows of `a` in a list.
        pub(crate) fn of_sources(self, rows: Tile<i32>) -> Tile<f32> {
            self.a.tile_rows(rows, [0, 0], [rows.dim(0), 1]).load().reshape([rows.dim(0)])
        }

        /// Sums times the scales of their rows, and of the columns of an expert from one on. With `SWAP` the tile is the transpose.
        pub(crate) fn apply<const SWAP: bool>(
            self,
            sums: Tile<f32>,
            of_rows: Tile<f32>,
            [expert, column]: [i32; 2],
        ) -> Tile<f32> {
            let (down, across) = if SWAP { (1, 0) } else { (0, 1) };
            let columns = sums.dim(across);
            let of_b = self.b.tile([expert, column, 0], [1, columns, 1]).load().reshape([columns]);
            sums * of_b.expand(down) * of_rows.expand(across)
        }
    }
}
