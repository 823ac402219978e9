//! The kernels of the gradients of norms.
//!
//! With `h` for the normalised row, `s` for the reciprocal of its root and `g = dy · weight`, the gradient of the row is
//! `s · (g - mean(g) - h · mean(g · h))`; RMS norm is without `mean(g)`. That of the weight is the sum of `dy · h` over all rows, and
//! that of the bias the sum of `dy`. What the forward pass computed of a row is computed again: the row is read anyway.

use kiln::prelude::*;

/// The sums of two tiles along their rows, which warps tell each other in one meeting.
#[device]
fn sums_of_rows(a: Tile<f32>, b: Tile<f32>) -> (Tile<f32>, Tile<f32>) {
    join(a, b).sum(1).split()
}

/// Persistent blocks, each of which takes every `num_blocks`-th tile of `R` rows that fit `N` columns. The copies of the next tiles arrive
/// while one is computed. A block keeps its sums over rows in registers, and stores them as its parts at the end. A thread has two rows or
/// more of a tile of several, and one sum for both.
///
/// A thread that has many elements of a tile reads them from shared memory once more after the sums: several blocks of a multiprocessor
/// take turns only if its registers hold the sums of all.
///
/// `parts` is `[blocks, 1, columns]` for the weight, and `[blocks, 2, columns]` for weight and bias.
#[kernel(target = sm_80, warps = W, grid = parts.dim(0),
         instances(T = [bf16, f16, f32],
                   (CENTRED, R, K, N, W, STAGES) =
                       [(false, 32, 2, 64, 4, 4), (false, 8, 2, 256, 4, 4), (false, 4, 2, 1024, 8, 3),
                        (false, 2, 2, 2048, 8, 3), (false, 1, 1, 4096, 8, 3), (false, 1, 1, 8192, 8, 2),
                        (true, 32, 2, 64, 4, 4), (true, 8, 2, 256, 4, 4), (true, 4, 2, 1024, 8, 3),
                        (true, 2, 2, 2048, 8, 3), (true, 1, 1, 4096, 8, 3), (true, 1, 1, 8192, 16, 2)]))]
pub(super) fn gradients<
    T: Float,
    const CENTRED: bool,
    const R: i32,
    const K: i32,
    const N: i32,
    const W: i32,
    const STAGES: i32,
>(
    x: Tensor<T, 2>,
    weight: Tensor<T, 1>,
    dy: Tensor<T, 2>,
    dsum: Option<Tensor<T, 2>>,
    eps: f32,
    dx: TensorMut<T, 2>,
    parts: TensorMut<f32, 3>,
) {
    let (block, blocks) = (block_id(0), num_blocks(0));
    let count = x.dim(1) as f32;
    let (xs, gs) = (shared::<T>([R, N]), shared::<T>([R, N]));
    let w = weight.tile([0], [N]).load();
    let mut weight_sums = zeros::<f32>([R / K, N]);
    let mut bias_sums = zeros::<f32>([R / K, N]);
    for i in pipeline(range(0, cdiv(cdiv(x.dim(0), R) - block, blocks), 1), STAGES) {
        let row = (block + i * blocks) * R;
        copy_async(x.tile([row, 0], [R, N]), xs);
        copy_async(dy.tile([row, 0], [R, N]), gs);
        let mut v = xs.load().cast::<f32>(); // zero outside the matrix, like `dy`
        let mut dy = gs.load().cast::<f32>();
        let mut g = dy * w.cast::<f32>().expand(0);
        let (mut mean, mut g_mean) = (zeros::<f32>([R, 1]), zeros::<f32>([R, 1]));
        if CENTRED {
            let (sums, g_sums) = sums_of_rows(v, g);
            mean = (sums / count).expand(1);
            g_mean = (g_sums / count).expand(1);
            let inside = arange(0, N).lt(x.dim(1)).expand(0);
            v = select(inside, v - mean, 0.0);
        }
        let (squares, products) = sums_of_rows(v * v, v * g);
        let mut scale = (squares / count + eps).rsqrt();
        if R > 1 {
            // Outside the matrix it is infinite if `eps` is 0.
            scale = select((row + arange(0, R)).lt(x.dim(0)), scale, 0.0);
        }
        let h_part = (products * scale / count).expand(1);
        let scale = scale.expand(1);
        if N == 8192 {
            v = xs.load().cast::<f32>() - mean;
            dy = gs.load().cast::<f32>();
            g = dy * w.cast::<f32>().expand(0);
        }
        let h = v * scale;
        weight_sums += (dy * h).reshape([K, R / K, N]).sum(0);
        let mut result = g - h * h_part;
        if CENTRED {
            bias_sums += dy.reshape([K, R / K, N]).sum(0);
            result -= g_mean;
        }
        result *= scale;
        if let Some(dsum) = dsum {
            result += dsum.tile([row, 0], [R, N]).load().cast::<f32>();
        }
        dx.tile([row, 0], [R, N]).store(result.cast::<T>());
    }
    parts.tile([block, 0, 0], [1, 1, N]).store(weight_sums.sum(0).reshape([1, 1, N]));
    if CENTRED {
        parts.tile([block, 1, 0], [1, 1, N]).store(bias_sums.sum(0).reshape([1, 1, N]));
    }
}

/// One block a row of any width, which it reads twice, `N` columns at a time. It stores mean and scale of the row for [`wide_sums`].
///
/// The sums are those of distances from the mean of the first `N` columns, as in the forward pass.
#[kernel(target = sm_80, warps = 8, grid = x.dim(0),
         instances((T, G) = [(bf16, 8), (f16, 8), (f32, 4)], CENTRED = [false, true], N = [4096]))]
pub(super) fn wide_gradients<T: Float, const G: i32, const CENTRED: bool, const N: i32>(
    x: Tensor<T, 2>,
    weight: Tensor<T, 1>,
    dy: Tensor<T, 2>,
    dsum: Option<Tensor<T, 2>>,
    eps: f32,
    dx: TensorMut<T, 2>,
    scales: TensorMut<f32, 2>,
) {
    let row = block_id(0);
    let count = x.dim(1) as f32;
    let mut near = zeros::<f32>([1]);
    let mut distances = zeros::<f32>([N / G]);
    let mut squares = zeros::<f32>([N / G]);
    let mut g_sums = zeros::<f32>([N / G]);
    let mut g_products = zeros::<f32>([N / G]);
    for at in range(0, x.dim(1), N) {
        let mut v = x.tile([row, at], [1, N]).load().cast::<f32>();
        let w = weight.tile([at], [N]).load().cast::<f32>().expand(0);
        let g = dy.tile([row, at], [1, N]).load().cast::<f32>() * w;
        if CENTRED {
            if at == 0 {
                near = v.sum(1) / minimum(full([1], count), N as f32);
            }
            let inside = (at + arange(0, N)).lt(x.dim(1)).expand(0);
            v = select(inside, v - near.expand(1), 0.0);
            distances += v.reshape([N / G, G]).sum(1);
            g_sums += g.reshape([N / G, G]).sum(1);
        }
        squares += (v * v).reshape([N / G, G]).sum(1);
        g_products += (v * g).reshape([N / G, G]).sum(1);
    }
    let distance = distances.sum(0) / count;
    let g_mean = g_sums.sum(0) / count;
    let scale = (squares.sum(0) / count - distance * distance + eps).rsqrt();
    let h_part = (g_products.sum(0) / count - distance * g_mean) * scale;
    let mean = near.expand(1) + distance;
    scales.tile([row, 0], [1, 1]).store(mean);
    scales.tile([row, 1], [1, 1]).store(scale.broadcast([1, 1]));
    for at in range(0, x.dim(1), N) {
        let v = x.tile([row, at], [1, N]).load().cast::<f32>();
        let w = weight.tile([at], [N]).load().cast::<f32>().expand(0);
        let g = dy.tile([row, at], [1, N]).load().cast::<f32>() * w;
        let mut result = (g - g_mean - (v - mean) * scale * h_part) * scale;
        if let Some(dsum) = dsum {
            result += dsum.tile([row, at], [1, N]).load().cast::<f32>();
        }
        dx.tile([row, at], [1, N]).store(result.cast::<T>());
    }
}

/// Sums over rows, of `N` columns and an equal share of the rows a block: the parts of [`gradients`] for wide rows.
#[kernel(target = sm_80, warps = W, grid = [cdiv(x.dim(1), N), parts.dim(0)],
         instances(T = [bf16, f16, f32], CENTRED = [false, true], (R, N, W) = [(8, 512, 8)]))]
pub(super) fn wide_sums<T: Float, const CENTRED: bool, const R: i32, const N: i32, const W: i32>(
    x: Tensor<T, 2>,
    dy: Tensor<T, 2>,
    scales: Tensor<f32, 2>,
    parts: TensorMut<f32, 3>,
) {
    let (at, part) = (block_id(0) * N, block_id(1));
    let mut weight_sums = zeros::<f32>([R, N]);
    let mut bias_sums = zeros::<f32>([R, N]);
    for row in range(part * R, x.dim(0), num_blocks(1) * R) {
        let v = x.tile([row, at], [R, N]).load().cast::<f32>();
        let dy = dy.tile([row, at], [R, N]).load().cast::<f32>();
        let mean = scales.tile([row, 0], [R, 1]).load();
        let scale = scales.tile([row, 1], [R, 1]).load();
        weight_sums += dy * ((v - mean) * scale);
        if CENTRED {
            bias_sums += dy;
        }
    }
    parts.tile([part, 0, at], [1, 1, N]).store(weight_sums.sum(0).reshape([1, 1, N]));
    if CENTRED {
        parts.tile([part, 1, at], [1, 1, N]).store(bias_sums.sum(0).reshape([1, 1, N]));
    }
}

/// Adds the parts of all blocks, in an order that depends on their number alone. `R` parts are in flight at once.
#[kernel(target = sm_80, warps = 8, grid = cdiv(dweight.dim(0), N), instances(T = [bf16, f16, f32], (R, N) = [(16, 256), (256, 16)]))]
pub(super) fn add_parts<T: Float, const R: i32, const N: i32>(
    parts: Tensor<f32, 3>,
    dweight: TensorMut<T, 1>,
    dbias: Option<TensorMut<T, 1>>,
) {
    add::<T, R, N>(parts, dweight, dbias);
}

/// [`add_parts`], which starts while the blocks that store the parts still end.
#[kernel(target = sm_90a, warps = 8, grid = cdiv(dweight.dim(0), N), instances(T = [bf16, f16, f32], (R, N) = [(16, 256), (256, 16)]))]
pub(super) fn add_parts_early<T: Float, const R: i32, const N: i32>(
    parts: Tensor<f32, 3>,
    dweight: TensorMut<T, 1>,
    dbias: Option<TensorMut<T, 1>>,
) {
    grid_dependency_wait();
    add::<T, R, N>(parts, dweight, dbias);
}

#[device]
fn add<T: Float, const R: i32, const N: i32>(
    parts: Tensor<f32, 3>,
    dweight: TensorMut<T, 1>,
    dbias: Option<TensorMut<T, 1>>,
) {
    let at = block_id(0) * N;
    let mut weight_sums = zeros::<f32>([R, N]);
    let mut bias_sums = zeros::<f32>([R, N]);
    for part in range(0, parts.dim(0), R) {
        weight_sums += parts.tile([part, 0, at], [R, 1, N]).load().reshape([R, N]);
        if dbias.is_some() {
            bias_sums += parts.tile([part, 1, at], [R, 1, N]).load().reshape([R, N]);
        }
    }
    dweight.tile([at], [N]).store(weight_sums.sum(0).cast::<T>());
    if let Some(dbias) = dbias {
        dbias.tile([at], [N]).store(bias_sums.sum(0).cast::<T>());
    }
}

#[cfg(test)]
#[expect(clippy::cast_precision_loss, reason = "the numbers are small")]
mod tests {
    use kiln::prelude::*;

    use super::gradients;

    /// A block that takes all tiles of rows one after the other, so that the ring of tiles turns, gives the rows of blocks that take a tile
    /// each, and the sums of their parts. The last tile has a row outside of the matrix, and rows end within an access of 16 bytes. What
    /// many blocks give is compared with f64 in `tests/kernels`.
    #[test]
    fn one_block_gives_what_a_block_for_each_tile_gives() -> Result<()> {
        for (columns, rows) in [(2043, 11), (8187, 5)] {
            one_block_and_many(rows, columns)?;
        }
        Ok(())
    }

    fn one_block_and_many(rows: usize, columns: usize) -> Result<()> {
        let stream = Device::emulator(Target::Sm90a)?.stream()?;
        let numbers = |len: usize, step: usize| -> Vec<bf16> {
            (0..len).map(|i| bf16::from_f64((i * step % 61) as f64 / 8.0 - 3.0)).collect()
        };
        let x = stream.upload(&numbers(rows * columns, 7), [rows, columns])?;
        let dy = stream.upload(&numbers(rows * columns, 11), [rows, columns])?;
        let weight = stream.upload(&numbers(columns, 5), [columns])?;
        for centred in [false, true] {
            let instance = gradients::instances()
                .filter(|i| i.T == Dtype::of::<bf16>() && i.CENTRED == centred)
                .find(|i| usize::try_from(i.N).is_ok_and(|n| columns <= n));
            let instance = instance.expect("an instance has as many columns");
            let kinds = if centred { 2 } else { 1 };
            let given = |blocks: usize| -> Result<(Vec<bf16>, Vec<f32>)> {
                let mut dx = stream.full([rows, columns], bf16::NAN)?;
                let mut parts = stream.full([blocks, kinds, columns], f32::NAN)?;
                instance
                    .with(gradients::Args {
                        x: &x,
                        weight: &weight,
                        dy: &dy,
                        dsum: None,
                        eps: 1e-5,
                        dx: &mut dx,
                        parts: &mut parts,
                    })
                    .launch(&stream)?;
                Ok((dx.to_vec(&stream)?, parts.to_vec(&stream)?))
            };
            let blocks = rows.div_ceil(usize::try_from(instance.R).unwrap_or(1));
            let (each, parts) = given(blocks)?;
            let (all, sums) = given(1)?;
            assert!(each.iter().all(|dx| dx.is_finite()), "{columns} columns");
            assert!(all == each, "rows of {columns} columns that one block takes differ");
            for (i, &sum) in sums.iter().enumerate() {
                let terms = parts.iter().skip(i).step_by(sums.len());
                let required: f64 = terms.map(|&part| f64::from(part)).sum();
                // Terms are below 5 · 3, and each addition rounds what is less than all of them.
                let off = (rows * rows * 15) as f64 / 16_777_216.0;
                assert!((f64::from(sum) - required).abs() <= off, "{i}: {sum} for {required}");
            }
        }
        Ok(())
    }
}
