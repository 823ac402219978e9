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

    /// A block computes a share of the steps along `k` of a tile of `BM` by `BN`. A block without sharers stores the tile; of several, the
    /// last one adds the sums of all in their order.
    ///
    /// `LEFT_K` and `RIGHT_K` say whether operands are contiguous along `k`; others are given as their transpose, `[k, rows]`.
    /// Operands and result have the products of a batch along their first axis.
    ///
    /// Large tiles are stored 16 bytes at a time: `c` is `[batch, m, n / 8, 8]`. Others are stored by single elements, to `[batch, m, n, 1]`:
    /// then only the alignment of operands decides how these are copied.
    #[kernel(target = sm_80, warps = 4, grid = c.dim(0) * cdiv(c.dim(1), BM) * cdiv(b.dim(if RIGHT_K { 1 } else { 2 }), BN) * shares,
             instances(T = [bf16, f16], (BM, BN, BK, STAGES, LEFT_K, RIGHT_K) = [
                 (16, 64, 64, 4, true, true), (16, 64, 64, 4, true, false),
                 (64, 64, 64, 3, true, true), (64, 64, 64, 3, true, false),
                 (64, 64, 64, 3, false, true), (64, 64, 64, 3, false, false),
                 (128, 128, 32, 3, true, true), (128, 128, 32, 3, true, false),
                 (128, 128, 32, 3, false, true), (128, 128, 32, 3, false, false),
             ]))]
    pub fn product<
        T: Float,
        const BM: i32,
        const BN: i32,
        const BK: i32,
        const STAGES: i32,
        const LEFT_K: bool,
        const RIGHT_K: bool,
    >(
        #[stride(_, _, 1)] a: Tensor<T, 3>,
        #[stride(_, _, 1)] b: Tensor<T, 3>,
        c: TensorMut<T, 4>,
        #[stride(_, BM * BN, BN, 1)] parts: TensorMut<f32, 4>,
        arrived: TensorMut<i32, 1>,
        shares: i32,
        scale: f32,
        bias: Tensor<T, 2>,
        bias_of_left: bool,
        activation: i32,
        accumulate: bool,
    ) {
        let epilogue = EpilogueOfAny { scale, bias, bias_of_left, activation, accumulate };
        let share = Share { tile: block_id(0) / shares, at: block_id(0) % shares, shares };
        let order =
            Grouped::<16>::new(cdiv(c.dim(1), BM), cdiv(b.dim(if RIGHT_K { 1 } else { 2 }), BN));
        let batch = share.tile / order.count();
        let (row, column) = order.tile(share.tile - batch * order.count());
        let (row, column) = (row * BM, column * BN);
        let sa = if LEFT_K { shared::<T>([BM, BK]) } else { shared::<T>([BK, BM]) };
        let sb = if RIGHT_K { shared::<T>([BN, BK]) } else { shared::<T>([BK, BN]) };
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
            acc = dot(left, right, acc);
        }
        if BM < 128 && shares > 1 {
            if !share.put(acc, parts, arrived) {
                return;
            }
            acc = share.all([BM, BN], parts);
        }
        if BM == 128 && epilogue.is_plain() {
            let window = c.tile([batch, row, column / 8, 0], [1, BM, BN / 8, 8]);
            window.store(acc.cast::<T>().reshape([1, BM, BN / 8, 8]));
        } else {
            let width = width_at_once(acc);
            for part in range(0, BN / width, 1) {
                let (sums, column) = (part_of(acc, part), column + part * width);
                if BM == 128 {
                    let window = c.tile([batch, row, column / 8, 0], [1, BM, width / 8, 8]);
                    let mut y = epilogue.value(sums, row, column);
                    if accumulate {
                        y += window.load().cast::<f32>().reshape([BM, width]);
                    }
                    window.store(y.cast::<T>().reshape([1, BM, width / 8, 8]));
                } else {
                    let window = c.tile([batch, row, column, 0], [1, BM, width, 1]);
                    let sums = sums.reshape([1, BM, width, 1]).to_layout(SINGLE);
                    let mut y = epilogue.value(sums.reshape([BM, width]), row, column);
                    if accumulate {
                        let old = window.load().to_layout(SINGLE);
                        y += old.cast::<f32>().reshape([BM, width]);
                    }
                    window.store(y.cast::<T>().reshape([1, BM, width, 1]).to_layout(SINGLE));
                }
            }
        }
    }
}
