//! What is done with sums before they are rounded, in the kernels of all cards.

#![expect(clippy::float_cmp, reason = "a factor of 1 changes nothing")]

#[kiln::device]
pub(crate) mod items {
    use kiln::prelude::*;

    use crate::activation::by_number::chosen;

    /// What is done with sums before they are stored: `c = activation(scale * sums + bias)`, and `c` is added where it accumulates.
    #[derive(Clone, Copy)]
    pub(crate) struct Epilogue<R: Float> {
        pub(crate) scale: f32,
        /// One number for each row of the left operand, or of the right one; none is as good as zeros.
        pub(crate) bias: Tensor<R, 1>,
        pub(crate) bias_of_left: bool,
        pub(crate) activation: i32,
        pub(crate) accumulate: bool,
    }

    impl<R: Float> Epilogue<R> {
        /// Whether sums are stored as they are.
        pub(crate) fn is_plain(&self) -> bool {
            let no_terms = self.bias.dim(0) == 0 && !self.accumulate;
            no_terms && self.activation < 0 && self.scale == 1.0
        }

        /// The numbers of a tile whose corner is at a row of the left operand and at one of the right, without what is there.
        pub(crate) fn value(&self, sums: Tile<f32>, row: i32, column: i32) -> Tile<f32> {
            let mut y = sums * self.scale;
            if self.bias.dim(0) > 0 {
                let [rows, columns] = [sums.dim(0), sums.dim(1)];
                if self.bias_of_left {
                    y += self.bias.tile([row], [rows]).load().cast::<f32>().expand(1);
                } else {
                    y += self.bias.tile([column], [columns]).load().cast::<f32>().expand(0);
                }
            }
            chosen::<R>(y, self.activation)
        }
    }

    /// The same with a bias of `[length, 1]`, which is loaded by single elements: so it may begin anywhere, and its alignment does not
    /// decide how operands are copied.
    #[derive(Clone, Copy)]
    pub(crate) struct EpilogueOfAny<R: Float> {
        pub(crate) scale: f32,
        pub(crate) bias: Tensor<R, 2>,
        pub(crate) bias_of_left: bool,
        pub(crate) activation: i32,
        pub(crate) accumulate: bool,
    }

    impl<R: Float> EpilogueOfAny<R> {
        /// Whether sums are stored as they are.
        pub(crate) fn is_plain(&self) -> bool {
            let no_terms = self.bias.dim(0) == 0 && !self.accumulate;
            no_terms && self.activation < 0 && self.scale == 1.0
        }

        /// The numbers of a tile, as those of [`Epilogue`].
        pub(crate) fn value(&self, sums: Tile<f32>, row: i32, column: i32) -> Tile<f32> {
            let mut y = sums * self.scale;
            if self.bias.dim(0) > 0 {
                let [rows, columns] = [sums.dim(0), sums.dim(1)];
                if self.bias_of_left {
                    y += self.bias.tile([row, 0], [rows, 1]).load().cast::<f32>();
                } else {
                    let bias = self.bias.tile([column, 0], [columns, 1]).load();
                    y += bias.cast::<f32>().reshape([1, columns]);
                }
            }
            chosen::<R>(y, self.activation)
        }
    }
}
