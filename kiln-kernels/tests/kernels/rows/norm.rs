use half::{bf16, f16};
use kiln::prelude::{DeviceTensor, Error, Result, Stream, Target};
use kiln_kernels::{Real, rows};

use super::{ADDITIONS, ROUNDING, assert_near, devices_and_shapes, values, within};
use crate::support::{Number, devices, numbers};

const EPS: f32 = 1e-5;

/// The fewest columns of a tile of the kernels that read a row twice.
const WIDE: f64 = 4096.0;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Rms,
    Layer,
}

/// A normalised row, before weight and bias.
struct Normal {
    hat: Vec<f64>,
    /// The reciprocal of the root, and how far it may be off in proportion.
    scale: (f64, f64),
    /// How far each element of `hat` may be off.
    off: Vec<f64>,
}

/// The norm of a row.
///
/// The mean is off by its additions and its division. As all distances are off by the same, the variance is off by the square of that, and
/// by its own additions: of squares up to `1 + n / N` times the variance, where a wide row is read twice. The reciprocal of the root halves
/// what the variance is off by, and is itself off by 2.2 units.
fn normal(kind: Kind, row: &[f64], eps: f32) -> Normal {
    let n = row.len() as f64;
    let (mean, mean_off) = match kind {
        Kind::Rms => (0.0, 0.0),
        Kind::Layer => {
            let size = row.iter().map(|x| x.abs()).sum::<f64>() / n;
            (row.iter().sum::<f64>() / n, (ADDITIONS + 4.0) * ROUNDING * size)
        }
    };
    let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
    let scale = 1.0 / (variance + f64::from(eps)).sqrt();
    let squares = 1.0 + if kind == Kind::Layer { n / WIDE } else { 0.0 };
    let scale_off = (squares * ADDITIONS / 2.0 + 12.0) * ROUNDING + (mean_off * scale).powi(2);
    let hat: Vec<f64> = row.iter().map(|x| (x - mean) * scale).collect();
    let off = hat.iter().map(|hat| hat.abs() * scale_off + mean_off * scale).collect();
    Normal { hat, scale: (scale, scale_off), off }
}

/// Around 3, so that a variance that cancels shows.
fn away<T: Number>(len: usize, seed: u64) -> Vec<T> {
    numbers::<T>(len, seed).into_iter().map(|x| T::of(x.value() + 3.0)).collect()
}

fn forward<T: Number + Real>(stream: &Stream, kind: Kind, [m, n]: [usize; 2]) -> Result<()> {
    let (x, residual) = (away::<T>(m * n, 1), numbers::<T>(m * n, 2));
    let (w, b) = (numbers::<T>(n, 3), numbers::<T>(n, 4));
    // The sum is rounded to f32, and then to the type.
    let sum: Vec<T> = x
        .iter()
        .zip(&residual)
        .map(|(x, r)| T::of(f32::of(x.value() + r.value()).value()))
        .collect();
    let required = |x: &[T], biased: bool| {
        let mut all = Vec::new();
        for row in values(x).chunks(n) {
            let Normal { hat, off, .. } = normal(kind, row, EPS);
            all.extend((0..n).map(|i| {
                let b = if biased { b[i].value() } else { 0.0 };
                let product = hat[i] * w[i].value();
                let rest = (product.abs() + (product + b).abs()) * ROUNDING;
                (product + b, off[i] * w[i].value().abs() + rest)
            }));
        }
        all
    };
    let what = format!("{kind:?} of {m}x{n}");
    let (x, residual) = (stream.upload(&x, [m, n])?, stream.upload(&residual, [m, n])?);
    let (weight, bias) = (stream.upload(&w, [n])?, stream.upload(&b, [n])?);
    let mut y = stream.full([m, n], T::of(f64::NAN))?;
    let mut stored = stream.full([m, n], T::of(f64::NAN))?;
    let x_host = x.to_vec(stream)?;
    match kind {
        Kind::Rms => rows::rms_norm(stream, &x, &weight, EPS, &mut y)?,
        Kind::Layer => rows::layer_norm(stream, &x, &weight, Some(&bias), EPS, &mut y)?,
    }
    assert_near(&what, n, &y.to_vec(stream)?, &required(&x_host, kind == Kind::Layer));

    stream.fill(&mut y, T::of(f64::NAN))?;
    match kind {
        Kind::Rms => {
            rows::add_rms_norm(stream, &x, &residual, &weight, EPS, &mut stored, &mut y)?;
        }
        Kind::Layer => {
            rows::add_layer_norm(stream, &x, &residual, &weight, None, EPS, &mut stored, &mut y)?;
        }
    }
    assert_eq!(values(&stored.to_vec(stream)?), values(&sum), "{what}: the sum");
    assert_near(&format!("{what}, of a sum"), n, &y.to_vec(stream)?, &required(&sum, false));
    Ok(())
}

/// The gradients of a norm in f64, each with how far it may be off: of the rows, the weight and the bias.
fn slopes<T: Number>(
    kind: Kind,
    [x, dy, dsum]: [&[T]; 3],
    w: &[T],
    eps: f32,
) -> [Vec<(f64, f64)>; 3] {
    let n = w.len();
    let rows = (x.len() / n) as f64;
    let mut dx = Vec::new();
    let mut sums = [vec![(0.0, 0.0); n], vec![(0.0, 0.0); n]];
    for ((x, dy), dsum) in values(x).chunks(n).zip(dy.chunks(n)).zip(dsum.chunks(n)) {
        let Normal { hat, scale: (scale, scale_off), off } = normal(kind, x, eps);
        let g: Vec<f64> = dy.iter().zip(w).map(|(dy, w)| dy.value() * w.value()).collect();
        let mean = |of: &dyn Fn(usize) -> f64| (0..n).map(of).sum::<f64>() / n as f64;
        let g_mean = if kind == Kind::Layer { mean(&|i| g[i]) } else { 0.0 };
        let h_part = mean(&|i| g[i] * hat[i]);
        // Sums of a wide row are those of distances from the mean of its first columns, which is within √(n / N) deviations.
        let away = if kind == Kind::Layer { (n as f64 / WIDE).sqrt() } else { 0.0 };
        let g_off = (ADDITIONS + 4.0) * ROUNDING * mean(&|i| g[i].abs());
        let h_off = (ADDITIONS + 8.0) * ROUNDING * mean(&|i| g[i].abs() * (hat[i].abs() + away))
            + mean(&|i| g[i].abs() * off[i])
            + h_part.abs() * scale_off;
        for i in 0..n {
            let terms = g[i] - g_mean - hat[i] * h_part;
            let sizes = g[i].abs() + g_mean.abs() + (hat[i] * h_part).abs();
            let terms_off =
                g_off + hat[i].abs() * h_off + off[i] * h_part.abs() + 6.0 * sizes * ROUNDING;
            let value = terms * scale + dsum[i].value();
            let value_off = scale * (terms_off + terms.abs() * (scale_off + 2.0 * ROUNDING));
            dx.push((value, value_off + 2.0 * ROUNDING * (terms * scale).abs().max(value.abs())));
            let dy = dy[i].value();
            // In any order there are fewer additions than rows and blocks.
            for (sum, term, term_off) in [(0, dy * hat[i], dy.abs() * off[i]), (1, dy, 0.0)] {
                sums[sum][i].0 += term;
                sums[sum][i].1 += term_off + term.abs() * (rows + 64.0) * ROUNDING;
            }
        }
    }
    let [dweight, dbias] = sums;
    [dx, dweight, dbias]
}

fn backward<T: Number + Real>(
    stream: &Stream,
    kind: Kind,
    with_sum: bool,
    [m, n]: [usize; 2],
) -> Result<()> {
    let what = format!("gradient of {kind:?} of {m}x{n}");
    let (x, dy) = (away::<T>(m * n, 1), numbers::<T>(m * n, 2));
    let (w, dsum) = (numbers::<T>(n, 3), numbers::<T>(m * n, 4));
    let zeros = vec![T::of(0.0); m * n];
    let tensor = |host: &[T]| stream.upload(host, [m, n]);
    let (x_tensor, dy_tensor, dsum_tensor) = (tensor(&x)?, tensor(&dy)?, tensor(&dsum)?);
    let weight = stream.upload(&w, [n])?;
    let mut gradients = rows::NormGradients::new(stream)?;
    let rest = if with_sum { &dsum } else { &zeros };
    let [dx_required, dw_required, db_required] = slopes(kind, [&x, &dy, rest], &w, EPS);
    let nan = T::of(f64::NAN);
    let (mut dx, mut dw) = (stream.full([m, n], nan)?, stream.full([n], nan)?);
    let mut db = stream.full([n], nan)?;
    let (x, dy, weight) = (&x_tensor, &dy_tensor, &weight);
    let dsum = with_sum.then_some(&dsum_tensor as _);
    match kind {
        Kind::Rms => gradients.rms_norm(stream, x, weight, EPS, dy, dsum, &mut dx, &mut dw)?,
        Kind::Layer => {
            let db = with_sum.then_some(&mut db as _);
            gradients.layer_norm(stream, x, weight, EPS, dy, dsum, &mut dx, &mut dw, db)?;
        }
    }
    assert_near(&what, n, &dx.to_vec(stream)?, &dx_required);
    assert_near(&format!("{what}, weight"), n, &dw.to_vec(stream)?, &dw_required);
    if kind == Kind::Layer && with_sum {
        assert_near(&format!("{what}, bias"), n, &db.to_vec(stream)?, &db_required);
    }
    Ok(())
}

/// More rows than the blocks that run at once take in one go, for some instances.
const TALL: &[[usize; 2]] = &[[14_000, 3], [3500, 65], [230, 1030]];

/// `with_sum`: the gradient has another part, of the sum.
fn every_shape<T: Number + Real>(with_sum: bool) -> Result<()> {
    for (device, shapes) in devices_and_shapes()? {
        let stream = device.stream()?;
        for kind in [Kind::Rms, Kind::Layer] {
            for &shape in &shapes {
                forward::<T>(&stream, kind, shape)?;
                backward::<T>(&stream, kind, with_sum, shape)?;
            }
        }
    }
    Ok(())
}

/// Rows that do not fit shared memory.
#[test]
fn norms_of_the_longest_rows_are_those_of_f64() -> Result<()> {
    for device in devices(rows::TARGETS)? {
        let stream = device.stream()?;
        forward::<bf16>(&stream, Kind::Rms, [1, 66_001])?;
        forward::<bf16>(&stream, Kind::Layer, [1, 66_000])?;
    }
    Ok(())
}

/// Rows that persistent clusters take one after the other, where there are clusters.
#[test]
fn norms_of_many_long_rows_are_those_of_f64() -> Result<()> {
    let stream = crate::support::device(rows::TARGETS)?.stream()?;
    forward::<bf16>(&stream, Kind::Rms, [2, 65_544])?;
    forward::<f16>(&stream, Kind::Layer, [1, 100_000])?;
    // There are 16 clusters of eight blocks, of which one has a second row.
    forward::<f32>(&stream, Kind::Layer, [17, 65_540])
}

#[test]
fn gradients_of_many_rows_are_those_of_f64() -> Result<()> {
    for device in devices(rows::TARGETS)? {
        let stream = device.stream()?;
        for (at, &shape) in TALL.iter().enumerate() {
            let kind = if at % 2 == 0 { Kind::Layer } else { Kind::Rms };
            backward::<bf16>(&stream, kind, at % 2 == 0, shape)?;
        }
        if device.runs(Target::Sm90a) {
            // There are 16 clusters of eight blocks.
            backward::<f32>(&stream, Kind::Layer, true, [33, 32_776])?;
        } else {
            backward::<bf16>(&stream, Kind::Rms, false, [120, 8200])?;
        }
    }
    Ok(())
}

/// Rows that end just before or at the end of a tile of each instance, and tiles with rows outside of the matrix.
#[test]
fn gradients_of_rows_that_fill_their_tiles_are_those_of_f64() -> Result<()> {
    for device in devices(rows::TARGETS)? {
        let stream = device.stream()?;
        for (at, &shape) in
            [[5, 2048], [34, 1027], [3, 2047], [3, 8192], [2, 8191], [19, 4096]].iter().enumerate()
        {
            let kind = if at % 2 == 0 { Kind::Rms } else { Kind::Layer };
            backward::<bf16>(&stream, kind, at % 3 == 0, shape)?;
        }
        backward::<f32>(&stream, Kind::Layer, true, [3, 2043])?;
        backward::<f32>(&stream, Kind::Rms, false, [2, 8189])?;
    }
    Ok(())
}

/// Rows that one block and two of them keep in shared memory, of each type, where there are clusters.
#[test]
fn gradients_of_rows_in_shared_memory_are_those_of_f64() -> Result<()> {
    let stream = crate::support::device(rows::TARGETS)?.stream()?;
    backward::<bf16>(&stream, Kind::Layer, false, [2, 9001])?;
    backward::<bf16>(&stream, Kind::Rms, true, [2, 16_392])?;
    backward::<f16>(&stream, Kind::Layer, true, [1, 16_384])?;
    backward::<f16>(&stream, Kind::Rms, false, [1, 32_768])?;
    backward::<f16>(&stream, Kind::Layer, false, [1, 70_000])?;
    backward::<f32>(&stream, Kind::Layer, false, [1, 12_001])?;
    backward::<f32>(&stream, Kind::Rms, true, [1, 20_000])
}

/// The means of the blocks of a cluster differ by a thousand deviations, and their sums of gradients too.
#[test]
fn a_step_in_a_row_costs_the_gradients_no_accuracy() -> Result<()> {
    let stream = crate::support::device(rows::TARGETS)?.stream()?;
    let n = 16_384;
    let mut x = numbers::<f32>(n, 1);
    x[2048..4096].iter_mut().for_each(|x| *x += 1000.0);
    let (dy, w) = (away::<f32>(n, 2), vec![1.0f32; n]);
    let [required, ..] = slopes(Kind::Layer, [&x, &dy, &vec![0.0; n]], &w, EPS);
    let (x, dy) = (stream.upload(&x, [1, n])?, stream.upload(&dy, [1, n])?);
    let (mut dx, mut dw) = (stream.zeros([1, n])?, stream.zeros([n])?);
    let weight = stream.upload(&w, [n])?;
    let mut gradients = rows::NormGradients::new(&stream)?;
    gradients.layer_norm(&stream, &x, &weight, EPS, &dy, None, &mut dx, &mut dw, None)?;
    assert_near("a step", n, &dx.to_vec(&stream)?, &required);
    Ok(())
}

/// Scratch memory that other gradients have left, and a graph that uses it.
#[test]
fn one_scratch_serves_every_shape_and_a_recording() -> Result<()> {
    let stream = crate::support::device(rows::TARGETS)?.stream()?;
    let mut shared = rows::NormGradients::new(&stream)?;
    for [m, n] in [[40, 70], [9, 9000], [3, 10], [9, 9000]] {
        let x = stream.upload(&away::<f32>(m * n, 1), [m, n])?;
        let dy = stream.upload(&numbers::<f32>(m * n, 2), [m, n])?;
        let weight = stream.upload(&numbers::<f32>(n, 3), [n])?;
        let run = |gradients: &mut rows::NormGradients, stream: &Stream| {
            let (mut dx, mut dw) = (stream.zeros([m, n])?, stream.zeros([n])?);
            let mut db = stream.zeros([n])?;
            let db_given = Some(&mut db as _);
            gradients
                .layer_norm(stream, &x, &weight, EPS, &dy, None, &mut dx, &mut dw, db_given)?;
            Ok::<_, Error>([dx.to_vec(stream)?, dw.to_vec(stream)?, db.to_vec(stream)?])
        };
        let alone = run(&mut rows::NormGradients::new(&stream)?, &stream)?;
        assert_eq!(run(&mut shared, &stream)?, alone, "{m}x{n}");

        let (mut dx, mut dw) = (stream.zeros([m, n])?, stream.zeros([n])?);
        let graph = stream.device().capture(|stream| {
            shared.layer_norm(stream, &x, &weight, EPS, &dy, None, &mut dx, &mut dw, None)
        })?;
        graph.launch(&stream)?;
        assert_eq!(dx.to_vec(&stream)?, alone[0], "{m}x{n}, recorded");
        assert_eq!(dw.to_vec(&stream)?, alone[1], "{m}x{n}, recorded");
    }
    Ok(())
}

/// The formula of the gradients, which other tests compare with, against differences of a loss Σ dy · norm(x) in f64.
#[test]
fn the_required_gradients_are_the_slopes_of_a_loss() {
    const STEP: f64 = 1e-5;
    let n = 11;
    let (x, dy, w) = (numbers::<f32>(n, 5), numbers::<f32>(n, 6), numbers::<f32>(n, 7));
    for kind in [Kind::Rms, Kind::Layer] {
        let loss = |x: &[f64]| -> f64 {
            let Normal { hat, .. } = normal(kind, x, EPS);
            (0..n).map(|i| hat[i] * w[i].value() * dy[i].value()).sum()
        };
        let [dx, ..] = slopes(kind, [&x, &dy, &vec![0.0; n]], &w, EPS);
        for (i, (slope, _)) in dx.into_iter().enumerate() {
            let at = |step: f64| {
                let mut x = values(&x);
                x[i] += step;
                loss(&x)
            };
            let difference = (at(STEP) - at(-STEP)) / (2.0 * STEP);
            // The third derivative of a row of 11 numbers of this size is below 1000, and f64 is off by 1e-15 over the step.
            let limit = 1000.0 * STEP * STEP + 1e-14 / STEP;
            assert!((difference - slope).abs() < limit, "{kind:?}: {difference} for {slope}");
        }
    }
}

/// Columns of wider matrices and every second element of a vector: what is beside them stays as it is.
#[test]
fn views_are_normalised_in_place() -> Result<()> {
    let stream = crate::support::device(rows::TARGETS)?.stream()?;
    let (m, n) = (5, 24);
    let matrix = |seed| numbers::<f16>(m * n, seed);
    let weight = stream.upload(&numbers::<f16>(2 * n, 4), [2 * n])?;
    let weight = weight.as_strided([n], [2])?;
    let mut gradients = rows::NormGradients::new(&stream)?;
    let alone = |seed| stream.upload(&matrix(seed), [m, n]);
    let (x, dy, residual) = (alone(1)?, alone(2)?, alone(3)?);
    let (mut y, mut sum, mut dx) =
        (stream.zeros([m, n])?, stream.zeros([m, n])?, stream.zeros([m, n])?);
    let mut dw = stream.zeros([n])?;
    rows::add_rms_norm(&stream, &x, &residual, &weight, EPS, &mut sum, &mut y)?;
    gradients.rms_norm(&stream, &x, &weight, EPS, &dy, None, &mut dx, &mut dw)?;

    let beside = |seed| stream.upload(&within(&matrix(seed), n, 3), [m, 64]);
    let (all_x, all_dy, all_residual) = (beside(1)?, beside(2)?, beside(3)?);
    let at = 3..3 + n;
    let (x, dy) = (all_x.slice(1, at.clone())?, all_dy.slice(1, at.clone())?);
    let residual = all_residual.slice(1, at.clone())?;
    let nothing = || stream.full([m, 64], f16::NAN);
    let (mut all_y, mut all_sum, mut all_dx) = (nothing()?, nothing()?, nothing()?);
    let (mut y_part, mut sum_part) =
        (all_y.slice_mut(1, at.clone())?, all_sum.slice_mut(1, at.clone())?);
    let mut dx_part = all_dx.slice_mut(1, at)?;
    let mut all_dw = stream.full([2 * n], f16::NAN)?;
    let mut dw_part = all_dw.as_strided_mut([n], [2])?;
    rows::add_rms_norm(&stream, &x, &residual, &weight, EPS, &mut sum_part, &mut y_part)?;
    gradients.rms_norm(&stream, &x, &weight, EPS, &dy, None, &mut dx_part, &mut dw_part)?;

    // NaN equals nothing.
    let bits = |of: Vec<f16>| of.into_iter().map(f16::to_bits).collect::<Vec<_>>();
    for (alone, all) in [(y, all_y), (sum, all_sum), (dx, all_dx)] {
        let required = within(&alone.to_vec(&stream)?, n, 3);
        assert_eq!(bits(all.to_vec(&stream)?), bits(required));
    }
    let all_dw = all_dw.to_vec(&stream)?;
    let (even, odd): (Vec<_>, Vec<_>) = all_dw.chunks(2).map(|pair| (pair[0], pair[1])).unzip();
    assert_eq!(even, dw.to_vec(&stream)?);
    assert!(odd.iter().all(|x| x.is_nan()), "written beside the view");
    Ok(())
}

/// Rows outside of the matrix, which a tile of several rows has, count nothing though their root is 0.
#[test]
fn without_eps_the_gradient_of_the_weight_is_finite() -> Result<()> {
    let stream = crate::support::device(rows::TARGETS)?.stream()?;
    let (m, n) = (3, 5);
    let (x, dy) = (away::<f32>(m * n, 1), numbers::<f32>(m * n, 2));
    let w = numbers::<f32>(n, 3);
    let [_, required, _] = slopes(Kind::Rms, [&x, &dy, &vec![0.0; m * n]], &w, 0.0);
    let (x, dy) = (stream.upload(&x, [m, n])?, stream.upload(&dy, [m, n])?);
    let (mut dx, mut dw) = (stream.zeros([m, n])?, stream.zeros([n])?);
    rows::NormGradients::new(&stream)?.rms_norm(
        &stream,
        &x,
        &stream.upload(&w, [n])?,
        0.0,
        &dy,
        None,
        &mut dx,
        &mut dw,
    )?;
    assert_near("weight", n, &dw.to_vec(&stream)?, &required);
    Ok(())
}

#[test]
fn norms_are_those_of_f64_in_bf16() -> Result<()> {
    every_shape::<bf16>(true)
}

#[test]
fn norms_are_those_of_f64_in_f16() -> Result<()> {
    every_shape::<f16>(false)
}

#[test]
fn norms_are_those_of_f64_in_f32() -> Result<()> {
    every_shape::<f32>(true)
}

/// A mean of a thousand deviations, in a row in registers, one in shared memory and one that is read twice; and a wide row whose first
/// columns are far from the others.
#[test]
fn a_large_mean_costs_a_layer_norm_no_accuracy() -> Result<()> {
    let stream = crate::support::device(rows::TARGETS)?.stream()?;
    let far =
        |n: usize| -> Vec<f32> { numbers::<f32>(n, 6).into_iter().map(|x| x + 1000.0).collect() };
    let mut step = far(40_000);
    step[8192..].iter_mut().for_each(|x| *x -= 1000.0);
    for row in [far(1000), far(20_000), far(40_000), step] {
        let n = row.len();
        let Normal { hat, off, .. } = normal(Kind::Layer, &values(&row), EPS);
        let required: Vec<_> = hat.into_iter().zip(off).collect();
        let x = stream.upload(&row, [1, n])?;
        let mut y = stream.zeros([1, n])?;
        rows::layer_norm(&stream, &x, &stream.full([n], 1.0)?, None, EPS, &mut y)?;
        assert_near(&format!("a row of {n}"), n, &y.to_vec(&stream)?, &required);
    }
    Ok(())
}

/// A row of one value has no deviation; one of zeros has no size.
#[test]
fn rows_without_deviation_are_zeros_and_nan_stays_in_its_row() -> Result<()> {
    let stream = crate::support::device(rows::TARGETS)?.stream()?;
    for n in [7, 20_000, 40_000] {
        let mut x = vec![0.0f32; 4 * n];
        x[..n].fill(5.0);
        x[2 * n + 3] = f32::NAN;
        x[3 * n + 3] = f32::INFINITY;
        let (x, weight) = (stream.upload(&x, [4, n])?, stream.full([n], 2.0)?);
        let mut y = stream.full([4, n], f32::NAN)?;
        rows::layer_norm(&stream, &x, &weight, None, EPS, &mut y)?;
        let result = y.to_vec(&stream)?;
        assert!(result[..2 * n].iter().all(|&y| y == 0.0), "{n} columns");
        assert!(result[2 * n..].iter().all(|y| y.is_nan()), "{n} columns");
        rows::rms_norm(&stream, &x, &weight, EPS, &mut y)?;
        let result = y.to_vec(&stream)?;
        assert!(result[n..2 * n].iter().all(|&y| y == 0.0), "{n} columns");
        assert!(result[2 * n..3 * n].iter().all(|y| y.is_nan()), "{n} columns");
        // Infinity by an infinite root is NaN, and all others are zero.
        let infinite = &result[3 * n..];
        assert!(infinite[3].is_nan() && infinite.iter().filter(|&&y| y == 0.0).count() == n - 1);
    }
    Ok(())
}

#[test]
fn empty_matrices_have_no_norm_and_other_shapes_are_refused() -> Result<()> {
    let stream = crate::support::device(rows::TARGETS)?.stream()?;
    let tensor = |shape| -> Result<DeviceTensor<f16, 2>> { stream.zeros(shape) };
    let vector = |n| -> Result<DeviceTensor<f16, 1>> { stream.zeros([n]) };
    for [m, n] in [[0, 5], [5, 0], [0, 0]] {
        let (x, w) = (tensor([m, n])?, vector(n)?);
        rows::rms_norm(&stream, &x, &w, EPS, &mut tensor([m, n])?)?;
        rows::layer_norm(&stream, &x, &w, Some(&w), EPS, &mut tensor([m, n])?)?;
        // The sums of no rows are 0.
        let (mut dx, mut dw) = (tensor([m, n])?, stream.full([n], f16::NAN)?);
        let mut db = stream.full([n], f16::NAN)?;
        let db_given = Some(&mut db as _);
        let mut gradients = rows::NormGradients::new(&stream)?;
        gradients.layer_norm(&stream, &x, &w, EPS, &x, None, &mut dx, &mut dw, db_given)?;
        assert!(dw.to_vec(&stream)?.iter().chain(&db.to_vec(&stream)?).all(|&x| x == f16::ZERO));
    }
    let (x, other, w) = (tensor([4, 8])?, tensor([4, 9])?, vector(8)?);
    let (mut y, mut sum, mut dw) = (tensor([4, 8])?, tensor([4, 8])?, vector(8)?);
    let mut gradients = rows::NormGradients::new(&stream)?;
    for refused in [
        rows::rms_norm(&stream, &x, &w, EPS, &mut tensor([8, 4])?),
        rows::rms_norm(&stream, &x, &vector(7)?, EPS, &mut y),
        rows::add_rms_norm(&stream, &x, &other, &w, EPS, &mut sum, &mut y),
        rows::add_rms_norm(&stream, &x, &x, &w, EPS, &mut tensor([3, 8])?, &mut y),
        rows::layer_norm(&stream, &x, &w, Some(&vector(9)?), EPS, &mut y),
        rows::add_layer_norm(&stream, &x, &x, &w, None, EPS, &mut sum, &mut tensor([4, 7])?),
        gradients.rms_norm(&stream, &x, &w, EPS, &other, None, &mut y, &mut dw),
        gradients.rms_norm(&stream, &x, &w, EPS, &x, Some(&other), &mut y, &mut dw),
        gradients.rms_norm(&stream, &x, &w, EPS, &x, None, &mut y, &mut vector(7)?),
        gradients.layer_norm(
            &stream,
            &x,
            &w,
            EPS,
            &x,
            None,
            &mut y,
            &mut dw,
            Some(&mut vector(7)?),
        ),
    ] {
        assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
    }
    Ok(())
}
