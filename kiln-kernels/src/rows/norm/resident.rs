//! The gradients of norms of rows that a cluster keeps in shared memory.

#![expect(clippy::cast_precision_loss, reason = "a number of columns may be rounded")]

pub(super) use kernels::spread_gradients;

#[kiln::kernel]
mod kernels {
    use kiln::prelude::*;

    use crate::rows::{blocks::rank, told::Told};

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

    /// The sums of row `i` from those of each block, whose means differ: the squares of distances from another mean are those from the own mean
    /// and the square of the distance of both for each column ("Updating formulae and a pairwise algorithm for computing sample variances" by
    /// Chan et al., 1979), and the products with `g` move by that distance times the sum of `g`.
    fn of_row<const CENTRED: bool, const C: i32, const ROUND: i32, const N: i32, const P: i32>(
        told: Told<C, ROUND>,
        i: i32,
        count: i32,
    ) -> Sums {
        told.wait(i);
        let mut all = Sums { mean: 0.0, squares: 0.0, g: 0.0, products: 0.0 };
        if CENTRED {
            for other in unroll(0..C) {
                all.mean += told.of(i, other, 2) * columns::<C, N, P>(other, count);
            }
            all.mean /= count as f32;
        }
        for other in unroll(0..C) {
            all.squares += told.of(i, other, 0);
            all.products += told.of(i, other, 1);
            if CENTRED {
                let apart = told.of(i, other, 2) - all.mean;
                let g = told.of(i, other, 3);
                all.squares += columns::<C, N, P>(other, count) * apart * apart;
                all.products += apart * g;
                all.g += g;
            }
        }
        all
    }

    /// A part of the weight.
    fn weight_of<const CENTRED: bool, T: Float>(
        kept: Array<Shared<T>>,
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
    /// Where shared memory has the weight, there is room for what blocks tell each other of two rows.
    ///
    /// A `dsum` without rows stands for none. `parts` is `[clusters, 1, columns]` for the weight, and `[clusters, 2, columns]` for weight and bias.
    #[kernel(target = sm_90a, warps = 16, cluster = C, grid = C * parts.dim(0),
             instances((T, N, C) = [(bf16, 4096, 1), (bf16, 4096, 2), (bf16, 4096, 4), (bf16, 4096, 8),
                                    (f16, 4096, 1), (f16, 4096, 2), (f16, 4096, 4), (f16, 4096, 8),
                                    (f32, 2048, 2), (f32, 2048, 4), (f32, 2048, 8)],
                       P = [4], (CENTRED, ROUND) = [(false, 8), (true, 2)]))]
    pub fn spread_gradients<
        T: Float,
        const N: i32,
        const C: i32,
        const P: i32,
        const CENTRED: bool,
        const ROUND: i32,
    >(
        x: Tensor<T, 2>,
        weight: Tensor<T, 1>,
        dy: Tensor<T, 2>,
        dsum: Tensor<T, 2>,
        eps: f32,
        dx: TensorMut<T, 2>,
        parts: TensorMut<f32, 3>,
    ) {
        launch_dependents(); // the kernel that adds the parts
        let (cluster, clusters, rank) = (block_id(0) / C, parts.dim(0), rank::<C>());
        let count = x.dim(1);
        let xs = array(P, |_| shared::<T>([1, N]));
        let gs = array(P, |_| shared::<T>([1, N]));
        // Where nothing uses them there are none: reductions would take their place, and wait for all copies before.
        let sums = array(if C > 1 { 1 } else { 0 }, |_| shared::<f32>([ROUND * C, 4]));
        let told = Told::<C, ROUND> { sums, there: barriers(ROUND, 1) };
        let ws = array(P, |part| weight.tile([(part * C + rank) * N], [N]).load()); // zero outside the row
        let kept = array(if CENTRED { P } else { 0 }, |_| shared::<T>([N]));
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
            let mut sums = Sums { mean, squares, g, products };
            if C > 1 {
                told.send(i, [squares, products, mean, g]);
            }
            // `ptxas` moves no load of global memory over a store: those of the next part come before the stores of one.
            let mut other = zeros::<T>([1, N]);
            if dsum.dim(0) > 0 {
                other = dsum.tile([row, rank * N], [1, N]).load();
            }
            if C > 1 {
                sums = of_row::<CENTRED, C, ROUND, N, P>(told, i, count);
            }
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

#[cfg(test)]
mod tests {
    use kiln::prelude::*;

    use super::spread_gradients;

    /// A cluster that takes 18 rows one after the other, so that the rings of rows and of sums turn twice, gives what clusters give that take one
    /// each; those are compared with f64 in `tests/kernels`.
    #[test]
    fn one_cluster_gives_the_rows_that_a_cluster_for_each_gives() -> Result<()> {
        const ROWS: usize = 18;
        const COLUMNS: usize = 16_400;
        let stream = Device::emulator(Target::Sm90a)?.stream()?;
        let numbers = |len: usize, step: usize| -> Vec<bf16> {
            (0..len).map(|i| bf16::from_f64((i * step % 61) as f64 / 8.0 - 3.0)).collect()
        };
        let x = stream.upload(&numbers(ROWS * COLUMNS, 7), [ROWS, COLUMNS])?;
        let dy = stream.upload(&numbers(ROWS * COLUMNS, 11), [ROWS, COLUMNS])?;
        let weight = stream.upload(&numbers(COLUMNS, 5), [COLUMNS])?;
        let nothing = stream.empty([0, 0])?;
        for centred in [false, true] {
            let kinds = if centred { 2 } else { 1 };
            let rows = |clusters: usize| -> Result<Vec<bf16>> {
                let mut dx = stream.full([ROWS, COLUMNS], bf16::NAN)?;
                let mut parts = stream.empty([clusters, kinds, COLUMNS])?;
                spread_gradients::find(|i| {
                    (i.T, i.C, i.CENTRED) == (Dtype::of::<bf16>(), 2, centred)
                })?
                .with(spread_gradients::Args {
                    x: &x,
                    weight: &weight,
                    dy: &dy,
                    dsum: &nothing,
                    eps: 1e-5,
                    dx: &mut dx,
                    parts: &mut parts,
                })
                .launch(&stream)?;
                dx.to_vec(&stream)
            };
            let each = rows(ROWS)?;
            assert!(each.iter().all(|dx| dx.is_finite()));
            assert!(rows(1)? == each, "rows that one cluster takes differ");
        }
        Ok(())
    }
}
