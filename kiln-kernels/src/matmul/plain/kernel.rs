//! The kernel: the compiler pipelines asynchronous copies.

#[kiln::kernel]
pub(crate) mod pipelined {
    use kiln::{
        prelude::*,
        sched::{Grouped, Schedule},
    };

    use super::super::super::epilogue::items::EpilogueOfAny;
    use crate::{
        activation::by_number::{part_of, width_at_once},
        shares::items::Share,
    };

    /// An element in each thread at a time, 32 of a row in a warp.
    const SINGLE: Layout = blocked([1, 1, 1, 1], [1, 1, 32, 1], [1, 4, 1, 1], [3, 2, 1, 0]);

    struct Product<T: Cast, U: Cast, R: Float> {
        a: Tensor<T, 3>,
        b: Tensor<U, 3>,
        c: TensorMut<R, 4>,
        shares: i32,
        epilogue: EpilogueOfAny<R>,
    }

    impl<T: Cast, U: Cast, R: Float> Product<T, U, R> {
        /// The share of a block, and the product of a batch, the row and the column of its tile.
        fn place<const BM: i32, const BN: i32, const RIGHT_K: bool>(&self) -> (Share, [i32; 3]) {
            let shares = self.shares;
            let share = Share { tile: block_id(0) / shares, at: block_id(0) % shares, shares };
            let order = Grouped::<16>::new(
                cdiv(self.c.dim(1), BM),
                cdiv(self.b.dim(if RIGHT_K { 1 } else { 2 }), BN),
            );
            let batch = share.tile / order.count();
            let (row, column) = order.tile(share.tile - batch * order.count());
            (share, [batch, row * BM, column * BN])
        }

        /// The sums of a share of a tile. `MIXED` operands are of two types of FP8, and are multiplied in f16, which has the numbers of both.
        fn multiply<
            const BM: i32,
            const BN: i32,
            const BK: i32,
            const STAGES: i32,
            const LEFT_K: bool,
            const RIGHT_K: bool,
            const MIXED: bool,
        >(
            &self,
            share: Share,
            [batch, row, column]: [i32; 3],
        ) -> Tile<f32> {
            let (a, b) = (self.a, self.b);
            let sa = if LEFT_K { shared::<T>([BM, BK]) } else { shared::<T>([BK, BM]) };
            let sb = if RIGHT_K { shared::<U>([BN, BK]) } else { shared::<U>([BK, BN]) };
            let (from, to) = share.steps(cdiv(a.dim(if LEFT_K { 2 } else { 1 }), BK));
            let mut acc = zeros::<f32>([BM, BN]);
            for step in pipeline(from..to, STAGES) {
                let k = step * BK;
                if LEFT_K {
                    copy_async(a.tile([batch, row, k], [1, BM, BK]), sa);
                } else {
                    copy_async(a.tile([batch, k, row], [1, BK, BM]), sa);
                }
                if RIGHT_K {
                    copy_async(b.tile([batch, column, k], [1, BN, BK]), sb);
                } else {
                    copy_async(b.tile([batch, k, column], [1, BK, BN]), sb);
                }
                let (left, right) =
                    (if LEFT_K { sa } else { sa.t() }, if RIGHT_K { sb.t() } else { sb });
                if T::BITS == 32 {
                    let (left, right) = (left.load().cast::<f32>(), right.load().cast::<f32>());
                    acc = dot_tf32(left, right, acc);
                } else if MIXED {
                    acc = dot(left.load().cast::<f16>(), right.load().cast::<f16>(), acc);
                } else if T::BITS == 8 {
                    acc += dot(left, right, zeros::<f32>([BM, BN])); // hardware may keep fewer bits of longer sums
                } else {
                    acc = dot(left, right, acc);
                }
            }
            acc
        }

        /// Stores the sums of a tile.
        fn store<const BM: i32, const BN: i32>(
            &self,
            acc: Tile<f32>,
            [batch, row, column]: [i32; 3],
        ) {
            let (c, epilogue) = (self.c, self.epilogue);
            let together = 16 / R::BYTES;
            if BM == 128 && epilogue.is_plain() {
                let window =
                    c.tile([batch, row, column / together, 0], [1, BM, BN / together, together]);
                window.store(acc.cast::<R>().reshape([1, BM, BN / together, together]));
            } else {
                let width = width_at_once(acc);
                for part in range(0, BN / width, 1) {
                    let (sums, column) = (part_of(acc, part), column + part * width);
                    if BM == 128 {
                        let window = c.tile(
                            [batch, row, column / together, 0],
                            [1, BM, width / together, together],
                        );
                        let mut y = epilogue.value(sums, row, column);
                        if epilogue.accumulate {
                            y += window.load().cast::<f32>().reshape([BM, width]);
                        }
                        window.store(y.cast::<R>().reshape([1, BM, width / together, together]));
                    } else {
                        let window = c.tile([batch, row, column, 0], [1, BM, width, 1]);
                        let sums = sums.reshape([1, BM, width, 1]).to_layout(SINGLE);
                        let mut y = epilogue.value(sums.reshape([BM, width]), row, column);
                        if epilogue.accumulate {
                            let old = window.load().to_layout(SINGLE);
                            y += old.cast::<f32>().reshape([BM, width]);
                        }
                        window.store(y.cast::<R>().reshape([1, BM, width, 1]).to_layout(SINGLE));
                    }
                }
            }
        }
    }

    /// A block computes a share of the steps along `k` of a tile of `BM` by `BN`. A block without sharers stores the tile; of several, the
    /// last one adds the sums of all in their order.
    ///
    /// `LEFT_K` and `RIGHT_K` say whether operands are contiguous along `k`; others are given as their transpose, `[k, rows]`.
    /// Operands and result have the products of a batch along their first axis.
    ///
    /// Large tiles are stored 16 bytes at a time: `c` is `[batch, m, n / 8, 8]`, or of `f32` `[batch, m, n / 4, 4]`. Others are
    /// stored by single elements, to `[batch, m, n, 1]`: then only the alignment of operands decides how these are copied.
    #[kernel(target = sm_80, warps = 4, grid = c.dim(0) * cdiv(c.dim(1), BM) * cdiv(b.dim(if RIGHT_K { 1 } else { 2 }), BN) * shares,
             instances((T, U, R, BM, BN, BK, STAGES, LEFT_K, RIGHT_K) = [
                 (bf16, bf16, bf16, 16, 64, 64, 4, true, true), (bf16, bf16, bf16, 16, 64, 64, 4, true, false),
                 (bf16, bf16, bf16, 64, 64, 64, 3, true, true), (bf16, bf16, bf16, 64, 64, 64, 3, true, false),
                 (bf16, bf16, bf16, 64, 64, 64, 3, false, true), (bf16, bf16, bf16, 64, 64, 64, 3, false, false),
                 (bf16, bf16, bf16, 128, 128, 32, 3, true, true), (bf16, bf16, bf16, 128, 128, 32, 3, true, false),
                 (bf16, bf16, bf16, 128, 128, 32, 3, false, true), (bf16, bf16, bf16, 128, 128, 32, 3, false, false),
                 (f16, f16, f16, 16, 64, 64, 4, true, true), (f16, f16, f16, 16, 64, 64, 4, true, false),
                 (f16, f16, f16, 64, 64, 64, 3, true, true), (f16, f16, f16, 64, 64, 64, 3, true, false),
                 (f16, f16, f16, 64, 64, 64, 3, false, true), (f16, f16, f16, 64, 64, 64, 3, false, false),
                 (f16, f16, f16, 128, 128, 32, 3, true, true), (f16, f16, f16, 128, 128, 32, 3, true, false),
                 (f16, f16, f16, 128, 128, 32, 3, false, true), (f16, f16, f16, 128, 128, 32, 3, false, false),
                 (f32, f32, f32, 16, 64, 32, 4, true, true), (f32, f32, f32, 16, 64, 32, 4, true, false),
                 (f32, f32, f32, 64, 64, 32, 3, true, true), (f32, f32, f32, 64, 64, 32, 3, true, false),
                 (f32, f32, f32, 64, 64, 32, 3, false, true), (f32, f32, f32, 64, 64, 32, 3, false, false),
                 (f32, f32, f32, 128, 64, 32, 3, true, true), (f32, f32, f32, 128, 64, 32, 3, true, false),
                 (f32, f32, f32, 128, 64, 32, 3, false, true), (f32, f32, f32, 128, 64, 32, 3, false, false),
             ]))]
    pub fn product<
        T: Cast,
        U: Cast,
        R: Float,
        const BM: i32,
        const BN: i32,
        const BK: i32,
        const STAGES: i32,
        const LEFT_K: bool,
        const RIGHT_K: bool,
    >(
        #[stride(_, _, 1)] a: Tensor<T, 3>,
        #[stride(_, _, 1)] b: Tensor<U, 3>,
        c: TensorMut<R, 4>,
        #[stride(_, BM * BN, BN, 1)] parts: TensorMut<f32, 4>,
        arrived: TensorMut<i32, 1>,
        shares: i32,
        scale: f32,
        bias: Tensor<R, 2>,
        bias_of_left: bool,
        activation: i32,
        accumulate: bool,
    ) {
        let epilogue = EpilogueOfAny { scale, bias, bias_of_left, activation, accumulate };
        let product = Product { a, b, c, shares, epilogue };
        let (share, at) = product.place::<BM, BN, RIGHT_K>();
        let mut acc = product.multiply::<BM, BN, BK, STAGES, LEFT_K, RIGHT_K, false>(share, at);
        if BM < 128 && shares > 1 {
            if !share.put(acc, parts, arrived) {
                return;
            }
            acc = share.all([BM, BN], parts);
        }
        product.store::<BM, BN>(acc, at);
    }

    /// The same for FP8, of operands that are contiguous along `k`.
    #[kernel(target = sm_89, warps = W, grid = c.dim(0) * cdiv(c.dim(1), BM) * cdiv(b.dim(1), BN) * shares,
             instances((T, U, R, BM, BN, BK, STAGES, W, MIXED) = [
                 (e4m3, e4m3, bf16, 16, 64, 128, 4, 4, false), (e4m3, e4m3, bf16, 64, 64, 128, 3, 4, false),
                 (e4m3, e4m3, bf16, 128, 128, 64, 3, 8, false), (e4m3, e4m3, f16, 16, 64, 128, 4, 4, false),
                 (e4m3, e4m3, f16, 64, 64, 128, 3, 4, false), (e4m3, e4m3, f16, 128, 128, 64, 3, 8, false),
                 (e5m2, e4m3, bf16, 64, 64, 128, 3, 4, true), (e5m2, e4m3, bf16, 128, 128, 64, 3, 8, true),
                 (e4m3, e5m2, bf16, 64, 64, 128, 3, 4, true), (e4m3, e5m2, bf16, 128, 128, 64, 3, 8, true),
             ]))]
    pub fn float8<
        T: Cast,
        U: Cast,
        R: Float,
        const BM: i32,
        const BN: i32,
        const BK: i32,
        const STAGES: i32,
        const W: i32,
        const MIXED: bool,
    >(
        #[stride(_, _, 1)] a: Tensor<T, 3>,
        #[stride(_, _, 1)] b: Tensor<U, 3>,
        c: TensorMut<R, 4>,
        #[stride(_, BM * BN, BN, 1)] parts: TensorMut<f32, 4>,
        arrived: TensorMut<i32, 1>,
        shares: i32,
        scale: f32,
        bias: Tensor<R, 2>,
        bias_of_left: bool,
        activation: i32,
        accumulate: bool,
    ) {
        let epilogue = EpilogueOfAny { scale, bias, bias_of_left, activation, accumulate };
        let product = Product { a, b, c, shares, epilogue };
        let (share, at) = product.place::<BM, BN, true>();
        let mut acc = product.multiply::<BM, BN, BK, STAGES, true, true, MIXED>(share, at);
        if BM < 128 && shares > 1 {
            if !share.put(acc, parts, arrived) {
                return;
            }
            acc = share.all([BM, BN], parts);
        }
        product.store::<BM, BN>(acc, at);
    }
}
