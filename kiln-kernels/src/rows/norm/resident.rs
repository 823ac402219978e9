//! The gradients of norms of rows that a cluster keeps in shared memory.

#![expect(clippy::cast_precision_loss, reason = "a number of columns may be rounded")]

pub(super) use kernels::spread_gradients;

#[kiln::kernel]
mod kernels {
    use kiln::prelude::*;

    use crate::rows::blocks::{meet, of_block, rank};

    /// What a block knows of its part of a row, or a cluster of a whole row.
    #[derive(Clone, Copy)]
    struct Sums {
        /// Of the columns inside the row, from which distances are measured.
        mean: f32,
        /// Of the squares of distances.
        squares: f32,
        /// Of `g = dy · weight`, and of its products with distances.
        g: f32,
        products: f32,
    }

    /// How many of the columns of a row a block has: every `C`-th of its tiles of `N` columns.
    fn columns<const C: i32, const N: i32, const P: i32>(rank: i32, count: i32) -> f32 {
        let mut columns = 0;
        for part in unroll(0..P) {
            columns += (count - (part * C + rank) * N).max(0).min(N);
        }
        columns as f32
    }

    /// The sums of two tiles of one row, which warps tell each other in one meeting.
    fn sums_of_row(a: Tile<f32>, b: Tile<f32>) -> (f32, f32) {
        let (a, b) = join(a, b).sum(1).split();
        (a.item(), b.item())
    }

    /// The sums of a row from those of each block, whose means differ: the squares of distances from another mean are those from the own
    /// mean and the square of the distance of both for each column ("Updating formulae and a pairwise algorithm for computing sample
    /// variances" by Chan et al., 1979), and the products with `g` move by that distance times the sum of `g`.
    fn of_row<const CENTRED: bool, const C: i32, const N: i32, const P: i32>(
        of_blocks: Shared<f32>,
        sums: Sums,
        count: i32,
    ) -> Sums {
        let mut all = sums;
        if C > 1 {
            of_blocks[0].store(full([1], sums.squares));
            of_blocks[1].store(full([1], sums.products));
            if CENTRED {
                of_blocks[2].store(full([1], sums.mean));
                of_blocks[3].store(full([1], sums.g));
            }
            meet::<C>();
            all = Sums { mean: 0.0, squares: 0.0, g: 0.0, products: 0.0 };
            if CENTRED {
                for other in unroll(0..C) {
                    let mean = of_block::<C>(of_blocks, other)[2].load().item();
                    all.mean += mean * columns::<C, N, P>(other, count);
                }
                all.mean /= count as f32;
            }
            for other in unroll(0..C) {
                let there = of_block::<C>(of_blocks, other);
                all.squares += there[0].load().item();
                all.products += there[1].load().item();
                if CENTRED {
                    let apart = there[2].load().item() - all.mean;
                    let g = there[3].load().item();
                    all.squares += columns::<C, N, P>(other, count) * apart * apart;
                    all.products += apart * g;
                    all.g += g;
                }
            }
        }
        all
    }

    /// A part of the weight.
    fn weight_of<const CENTRED: bool, T: Float>(
        kept: Shared<T>,
        held: Tile<T>,
        part: i32,
    ) -> Tile<T> {
        if CENTRED { kept[part].load() } else { held }
    }

    /// Rows of a block in shared memory at a time: one is computed, and the copies of the others are in flight. With one other, nothing would
    /// be in flight from when it is there to when the one before it is done.
    const ROWS: i32 = 3;

    /// Persistent clusters of `C` blocks, each of which takes every `parts.dim(0)`-th row. A block has every `C`-th tile of `N` columns, `P`
    /// of them, and keeps these of the weight: in registers, like its sums over rows, or in shared memory if there are sums for the bias too.
    /// It stores the sums as parts of its cluster at the end. The copies of the next rows arrive while one is computed.
    ///
    /// A `dsum` without rows stands for none. `parts` is `[clusters, 1, columns]` for the weight, and `[clusters, 2, columns]` for weight and bias.
    #[kernel(target = sm_90a, warps = 16, cluster = C, grid = C * parts.dim(0),
             instances((T, N, C) = [(bf16, 4096, 1), (bf16, 4096, 2), (bf16, 4096, 4), (bf16, 4096, 8),
                                    (f16, 4096, 1), (f16, 4096, 2), (f16, 4096, 4), (f16, 4096, 8),
                                    (f32, 2048, 2), (f32, 2048, 4), (f32, 2048, 8)],
                       P = [4], CENTRED = [false, true]))]
    pub fn spread_gradients<
        T: Float,
        const N: i32,
        const C: i32,
        const P: i32,
        const CENTRED: bool,
    >(
        x: Tensor<T, 2>,
        weight: Tensor<T, 1>,
        dy: Tensor<T, 2>,
        dsum: Tensor<T, 2>,
        eps: f32,
        dx: TensorMut<T, 2>,
        parts: TensorMut<f32, 3>,
    ) {
        let (cluster, clusters, rank) = (block_id(0) / C, parts.dim(0), rank::<C>());
        let count = x.dim(1);
        let xs = array(P, |_| shared::<T>([1, N]));
        let gs = array(P, |_| shared::<T>([1, N]));
        // Blocks may still read the sums of one row when others store those of the next.
        let of_blocks = shared::<f32>([2, 4, 1]);
        // Zero outside the row.
        let ws = array(P, |part| weight.tile([(part * C + rank) * N], [N]).load());
        let kept = shared::<T>([P, N]);
        if CENTRED {
            for part in unroll(0..P) {
                kept[part].store(ws[part]);
            }
        }
        let mut weight_sums = array(P, |_| zeros::<f32>([1, N]));
        let mut bias_sums = array(P, |_| zeros::<f32>([1, N]));
        for i in pipeline(range(0, cdiv(x.dim(0) - cluster, clusters), 1), ROWS) {
            let row = cluster + i * clusters;
            for part in unroll(0..P) {
                let at = [row, (part * C + rank) * N];
                copy_async(x.tile(at, [1, N]), xs[part]);
                copy_async(dy.tile(at, [1, N]), gs[part]);
            }
            let (mut mean, mut g) = (0.0, 0.0);
            if CENTRED {
                let mut sums = zeros::<f32>([1, N]);
                let mut g_sums = zeros::<f32>([1, N]);
                for part in unroll(0..P) {
                    sums += xs[part].load().cast::<f32>();
                    g_sums += gs[part].load().cast::<f32>()
                        * weight_of::<CENTRED, T>(kept, ws[part], part).cast::<f32>().expand(0);
                }
                let (sum, g_sum) = sums_of_row(sums, g_sums);
                mean = sum / columns::<C, N, P>(rank, count).max(1.0);
                g = g_sum;
            }
            let mut squares = zeros::<f32>([1, N]);
            let mut products = zeros::<f32>([1, N]);
            for part in unroll(0..P) {
                let mut v = xs[part].load().cast::<f32>();
                if CENTRED {
                    let inside = ((part * C + rank) * N + arange(0, N)).lt(count).expand(0);
                    v = select(inside, v - mean, 0.0);
                }
                let g = gs[part].load().cast::<f32>()
                    * weight_of::<CENTRED, T>(kept, ws[part], part).cast::<f32>().expand(0);
                squares += v * v;
                products += v * g;
            }
            let (squares, products) = sums_of_row(squares, products);
            // `ptxas` moves no load of global memory over a store: those of the next part come before the stores of one.
            let mut other = zeros::<T>([1, N]);
            if dsum.dim(0) > 0 {
                other = dsum.tile([row, rank * N], [1, N]).load();
            }
            let sums = Sums { mean, squares, g, products };
            let sums = of_row::<CENTRED, C, N, P>(of_blocks[i % 2], sums, count);
            let scale = full([1], sums.squares / count as f32 + eps).rsqrt().item();
            let g_mean = sums.g / count as f32;
            let h_part = sums.products * scale / count as f32;
            for part in unroll(0..P) {
                let at = [row, (part * C + rank) * N];
                let h = (xs[part].load().cast::<f32>() - sums.mean) * scale;
                let dy = gs[part].load().cast::<f32>();
                let g = dy * weight_of::<CENTRED, T>(kept, ws[part], part).cast::<f32>().expand(0);
                weight_sums[part] += dy * h;
                let mut result = g - h * h_part;
                if CENTRED {
                    bias_sums[part] += dy;
                    result -= g_mean;
                }
                result *= scale;
                result += other.cast::<f32>();
                if part + 1 < P && dsum.dim(0) > 0 {
                    other = dsum.tile([row, at[1] + C * N], [1, N]).load();
                }
                dx.tile(at, [1, N]).store(result.cast::<T>());
            }
        }
        for part in unroll(0..P) {
            let at = (part * C + rank) * N;
            parts.tile([cluster, 0, at], [1, 1, N]).store(weight_sums[part].reshape([1, 1, N]));
            if CENTRED {
                parts.tile([cluster, 1, at], [1, 1, N]).store(bias_sums[part].reshape([1, 1, N]));
            }
        }
    }
}
