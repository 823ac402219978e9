//! Norms of many long rows on Hopper, whose weight and bias the threads keep in registers.

#![expect(clippy::cast_precision_loss, reason = "a number of columns may be rounded")]

pub(super) use kernels::persistent_norm;

#[kiln::kernel]
mod kernels {
    use kiln::{Ring, prelude::*};

    use crate::rows::told::Told;

    /// Rows that are in shared memory at a time.
    const ROWS: i32 = 3;
    /// Rows of a cluster after which its blocks meet.
    const ROUND: i32 = 8;
    /// Parts of a row that are computed with one after the other.
    const PARTS: i32 = 8;

    /// How many columns of a row of `count` the block `rank` has.
    fn columns<const N: i32>(rank: i32, count: i32) -> f32 {
        (count - rank * N).max(0).min(N) as f32
    }

    /// A part of the columns of a block.
    fn part_of<const N: i32, T: Float>(row: Shared<T>, part: i32) -> Tile<f32> {
        row.tile([0, part * (N / PARTS)], [1, N / PARTS]).load().cast::<f32>()
    }

    /// The mean of row `i` of a cluster, and the sum of the squares of distances from it, from those of each block.
    fn of_row<const N: i32, const C: i32>(told: Told<C, ROUND>, i: i32, count: i32) -> (f32, f32) {
        told.wait(i);
        let (mut all_mean, mut all_squares) = (0.0, 0.0);
        for other in unroll(0..C) {
            all_mean += told.of(i, other, 0) * columns::<N>(other, count);
            all_squares += told.of(i, other, 1);
        }
        all_mean /= count as f32;
        for other in unroll(0..C) {
            let distance = told.of(i, other, 0) - all_mean;
            all_squares += distance * distance * columns::<N>(other, count);
        }
        (all_mean, all_squares)
    }

    /// Persistent clusters of `C` blocks: each normalises one row after the other, and a block `N` of its columns. The next rows are in flight
    /// meanwhile.
    ///
    /// Blocks tell each other the mean of their columns and the squares of distances from it, which are combined without cancellation
    /// (Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances", 1979).
    #[kernel(target = sm_90a, warps = 16, cluster = C, grid = C * clusters,
             instances((T, N, C) = [(bf16, 32768, 4), (f16, 32768, 4), (f32, 16384, 8)],
                       CENTRED = [false, true]))]
    pub fn persistent_norm<T: Float, const N: i32, const C: i32, const CENTRED: bool>(
        x: Tensor<T, 2>,
        weight: Tensor<T, 1>,
        bias: Option<Tensor<T, 1>>,
        eps: f32,
        y: TensorMut<T, 2>,
        clusters: i32,
    ) {
        let rows = shared::<T>([ROWS, 1, N]);
        let sums = array(1, |_| shared::<f32>([ROUND * C, 4]));
        let told = Told::<C, ROUND> { sums, there: barriers(ROUND, 1) };
        let (row, first, count) = (block_id(0) / C, cluster::rank() * N, x.dim(1));
        let (mut ahead, mut here) = (Ring::writer(ROWS), Ring::reader(ROWS));
        for i in unroll(0..ROWS - 1) {
            // Zero outside the tensor.
            copy_async(x.tile([row + i * clusters, first], [1, N]), rows[ahead.slot]);
            copy_async_commit();
            ahead.advance();
        }
        let w = weight.tile([first], [N]).load();
        let b = match bias {
            Some(bias) => bias.tile([first], [N]).load(),
            None => zeros::<T>([N]),
        };
        let mut i = 0;
        for at in range(row, x.dim(0), clusters) {
            copy_async_wait(ROWS - 2);
            sync(); // the row is there, and nobody reads the one before it
            copy_async(x.tile([at + (ROWS - 1) * clusters, first], [1, N]), rows[ahead.slot]);
            copy_async_commit();
            ahead.advance();
            let held = rows[here.slot];
            let mut sums = zeros::<f32>([1, N / PARTS]);
            for part in unroll(0..PARTS) {
                let v = part_of::<N, T>(held, part);
                sums += if CENTRED { v } else { v * v };
            }
            let (mut mean, mut sum) = (0.0, sums.sum(1).item());
            if CENTRED {
                mean = sum / columns::<N>(cluster::rank(), count).max(1.0);
                let mut squares = zeros::<f32>([1, N / PARTS]);
                for part in unroll(0..PARTS) {
                    let inside =
                        (first + part * (N / PARTS) + arange(0, N / PARTS)).lt(count).expand(0);
                    let distance = select(inside, part_of::<N, T>(held, part) - mean, 0.0);
                    squares += distance * distance;
                }
                sum = squares.sum(1).item();
            }
            told.send(i, [mean, sum, 0.0, 0.0]);
            (mean, sum) = of_row::<N, C>(told, i, count);
            i += 1;
            let scale = full([1], sum / count as f32 + eps).rsqrt().item();
            for part in unroll(0..PARTS) {
                let (from, to) = (part * (N / PARTS), (part + 1) * (N / PARTS));
                let w = w.slice(from..to).cast::<f32>().expand(0);
                let b = b.slice(from..to).cast::<f32>().expand(0);
                let value = (part_of::<N, T>(held, part) - mean) * scale * w + b;
                y.tile([at, first + from], [1, N / PARTS]).store(value.cast::<T>());
            }
            here.advance();
        }
        cluster::sync(); // until then other blocks send their sums
    }
}

#[cfg(test)]
mod tests {
    use kiln::prelude::*;

    use super::persistent_norm;

    /// A cluster that takes ten rows one after the other, so that the rings of rows and of sums turn, gives what ten clusters give that take one each;
    /// those are compared with f64 in `tests/kernels`.
    #[test]
    fn one_cluster_normalises_all_rows_as_a_cluster_for_each_does() -> Result<()> {
        const ROWS: usize = 10;
        const COLUMNS: usize = 65_544;
        let stream = Device::emulator(Target::Sm90a)?.stream()?;
        let numbers = |len: usize, step: usize| -> Vec<bf16> {
            (0..len).map(|i| bf16::from_f64((i * step % 61) as f64 / 8.0 - 3.0)).collect()
        };
        let x = stream.upload(&numbers(ROWS * COLUMNS, 7), [ROWS, COLUMNS])?;
        let weight = stream.upload(&numbers(COLUMNS, 5), [COLUMNS])?;
        let bias = stream.upload(&numbers(COLUMNS, 3), [COLUMNS])?;
        let normalised = |clusters| -> Result<Vec<bf16>> {
            let mut y = stream.full([ROWS, COLUMNS], bf16::NAN)?;
            persistent_norm::find(|i| (i.T, i.CENTRED) == (Dtype::of::<bf16>(), true))?
                .with(persistent_norm::Args {
                    x: &x,
                    weight: &weight,
                    bias: Some(&bias),
                    eps: 1e-5,
                    y: &mut y,
                    clusters,
                })
                .launch(&stream)?;
            y.to_vec(&stream)
        };
        let each = normalised(10)?;
        assert!(each.iter().all(|y| y.is_finite()));
        assert!(normalised(1)? == each, "rows that one cluster takes differ");
        Ok(())
    }
}
