//! What the warps that multiply do on Hopper, in all kernels.

use kiln::prelude::*;

#[device]
pub(crate) mod items {
    use kiln::{
        Ring,
        lang::{Barriers, Float, Scalar, Shared, Tile, range, wgmma, zeros},
    };

    use super::super::tiles::items::Epilogue;
    use crate::activation::by_number::{part_of, width_at_once};
    use crate::promoted::items::{Steps, release};

    /// The operands of several steps, which other warps load.
    #[derive(Clone, Copy)]
    pub(crate) struct Operands<T: Scalar, U: Scalar> {
        pub(crate) lefts: Shared<T>,
        pub(crate) rights: Shared<U>,
        pub(crate) full: Barriers,
        /// In a cluster of several blocks, what each releases frees the buffers of all.
        pub(crate) empty: Barriers,
    }

    impl<T: Scalar, U: Scalar> Operands<T, U> {
        /// The sums of the next `steps`, of `[M, N]`, with one product in flight during the wait for the operands of the next.
        ///
        /// `LEFT_K` and `RIGHT_K` say whether buffers are `[M, 64]` and `[N, 64]`, or their transposes. With `SWAP` the right operand is on
        /// the left. In a cluster of `C` blocks each frees the buffers of all.
        pub(crate) fn multiply<
            const C: i32,
            const M: i32,
            const N: i32,
            const LEFT_K: bool,
            const RIGHT_K: bool,
            const SWAP: bool,
        >(
            self,
            ring: &mut Ring,
            steps: i32,
        ) -> Tile<f32> {
            let mut acc = if SWAP { zeros::<f32>([N, M]) } else { zeros::<f32>([M, N]) };
            let mut before = ring.slot;
            for step in range(0, steps, 1) {
                self.full[ring.slot].wait(ring.phase);
                let (left, right) = (self.lefts[ring.slot], self.rights[ring.slot]);
                let left = if LEFT_K { left } else { left.t() };
                let right = if RIGHT_K { right.t() } else { right };
                if SWAP {
                    acc = wgmma::mma(right.t(), left.t(), acc);
                } else {
                    acc = wgmma::mma(left, right, acc);
                }
                acc = wgmma::wait(1, acc);
                if step > 0 {
                    release::<C>(self.empty, before);
                }
                before = ring.slot;
                ring.advance();
            }
            acc = wgmma::wait(0, acc);
            if steps > 0 {
                release::<C>(self.empty, before);
            }
            acc
        }

        /// The same of FP8: those of each 128 products are added in f32. Buffers are `[M, 128]` and `[N, 128]`.
        pub(crate) fn multiply_float8<const M: i32, const N: i32, const SWAP: bool>(
            self,
            ring: &mut Ring,
            steps: i32,
        ) -> Tile<f32> {
            let (lefts, rights) = (self.lefts, self.rights);
            let (full, empty) = (self.full, self.empty);
            if SWAP {
                let operands = Steps { lefts: rights, rights: lefts, full, empty };
                operands.add::<1>(ring, steps, zeros::<f32>([N, M]))
            } else {
                let operands = Steps { lefts, rights, full, empty };
                operands.add::<1>(ring, steps, zeros::<f32>([M, N]))
            }
        }
    }

    /// Rounds the numbers of a tile to shared memory.
    pub(crate) fn stage<T: Float, const SWAP: bool>(
        epilogue: Epilogue<T>,
        sums: Tile<f32>,
        [expert, row, column]: [i32; 3],
        staged: Shared<T>,
    ) {
        if epilogue.is_plain() {
            staged.store(if SWAP { sums.permute([1, 0]).cast() } else { sums.cast() });
        } else {
            let width = width_at_once(sums);
            let height = sums.dim(0);
            for part in range(0, sums.dim(1) / width, 1) {
                let (sums, at) = (part_of(sums, part), part * width);
                if SWAP {
                    let y = epilogue.value::<true>(sums, expert, row + at, column);
                    staged.tile([at, 0], [width, height]).store(y.permute([1, 0]).cast());
                } else {
                    let y = epilogue.value::<false>(sums, expert, row, column + at);
                    staged.tile([0, at], [height, width]).store(y.cast());
                }
            }
        }
    }
}
