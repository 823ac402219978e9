use half::{bf16, f16};
use kiln::prelude::{DeviceTensor, Error, Result, Stream};
use kiln_kernels::{Real, rows};

use super::{ADDITIONS, ROUNDING, assert_near, devices_and_shapes, values};
use crate::support::{Number, devices, numbers};

/// Spread widely enough that most of a row's powers are small.
fn spread<T: Number>(len: usize, seed: u64) -> Vec<T> {
    numbers::<T>(len, seed).into_iter().map(|x| T::of(x.value() * 8.0)).collect()
}

/// Each element of a row with its logarithm of softmax and how far below the maximum it is.
fn logarithms(row: &[f64]) -> Vec<(f64, f64)> {
    let top = row.iter().copied().fold(f64::MIN, f64::max);
    let ln = row.iter().map(|x| (x - top).exp()).sum::<f64>().ln();
    row.iter().map(|x| (x - top - ln, top - x)).collect()
}

/// In proportion: the distance to the maximum is rounded and is the exponent of a power, which is off by 2 units (exp) or 2 + 1.25 units
/// for each unit of the distance (`exp_approx`, in sums); then come the sum, its reciprocal and the product.
fn power_off(below: f64) -> f64 {
    (2.0 * (2.0 + 1.25 * below) + below + ADDITIONS + 4.0) * ROUNDING
}

fn every_shape<T: Number + Real>() -> Result<()> {
    for (device, shapes) in devices_and_shapes()? {
        let stream = device.stream()?;
        for [m, n] in shapes {
            forward(&stream, &spread::<T>(m * n, 1), n)?;
            backward::<T>(&stream, [m, n])?;
        }
    }
    Ok(())
}

fn forward<T: Number + Real>(stream: &Stream, host: &[T], n: usize) -> Result<()> {
    let m = host.len() / n;
    let x = stream.upload(host, [m, n])?;
    let mut y = stream.full([m, n], T::of(f64::NAN))?;
    let logarithms: Vec<_> = values(host).chunks(n).flat_map(logarithms).collect();

    rows::softmax(stream, &x, &mut y)?;
    let required = logarithms.iter().map(|&(ln, below)| (ln.exp(), ln.exp() * power_off(below)));
    let required: Vec<_> = required.collect();
    assert_near(&format!("softmax of {m}x{n}"), n, &y.to_vec(stream)?, &required);

    stream.fill(&mut y, T::of(f64::NAN))?;
    rows::log_softmax(stream, &x, &mut y)?;
    // The distance, the logarithm of the sum (by as much as the sum is off in proportion) and their difference.
    let required = logarithms
        .iter()
        .map(|&(ln, below)| (ln, power_off(16.0) + (below + 4.0 * ln.abs() + 4.0) * ROUNDING));
    let required: Vec<_> = required.collect();
    assert_near(&format!("log_softmax of {m}x{n}"), n, &y.to_vec(stream)?, &required);
    Ok(())
}

/// The results of the forward pass as a backward pass gets them: rounded to the type.
fn backward<T: Number + Real>(stream: &Stream, [m, n]: [usize; 2]) -> Result<()> {
    let x = spread::<T>(m * n, 1);
    let logarithms: Vec<f64> =
        values(&x).chunks(n).flat_map(logarithms).map(|(ln, _)| ln).collect();
    let dy = numbers::<T>(m * n, 2);
    let gradient = stream.upload(&dy, [m, n])?;
    let mut dx = stream.full([m, n], T::of(f64::NAN))?;

    let y: Vec<T> = logarithms.iter().map(|ln| T::of(ln.exp())).collect();
    let mut required = Vec::new();
    for (y, dy) in y.chunks(n).zip(dy.chunks(n)) {
        let terms = || y.iter().zip(dy).map(|(y, dy)| y.value() * dy.value());
        let (sum, size): (f64, f64) = (terms().sum(), terms().map(f64::abs).sum());
        required.extend(y.iter().zip(dy).map(|(y, dy)| {
            let off = (ADDITIONS + 1.0) * size + 2.0 * (dy.value().abs() + sum.abs());
            (y.value() * (dy.value() - sum), y.value() * off * ROUNDING)
        }));
    }
    let result = stream.upload(&y, [m, n])?;
    rows::softmax_backward(stream, &result, &gradient, &mut dx)?;
    assert_near(&format!("softmax_backward of {m}x{n}"), n, &dx.to_vec(stream)?, &required);

    let y: Vec<T> = logarithms.iter().map(|&ln| T::of(ln)).collect();
    let mut required = Vec::new();
    for (y, dy) in y.chunks(n).zip(dy.chunks(n)) {
        let (sum, size) = dy
            .iter()
            .fold((0.0, 0.0), |(sum, size), dy| (sum + dy.value(), size + dy.value().abs()));
        required.extend(y.iter().zip(dy).map(|(y, dy)| {
            let p = y.value().exp();
            let off =
                p * (ADDITIONS * size + 6.0 * sum.abs()) + 2.0 * (dy.value().abs() + p * sum.abs());
            (dy.value() - p * sum, off * ROUNDING)
        }));
    }
    let result = stream.upload(&y, [m, n])?;
    stream.fill(&mut dx, T::of(f64::NAN))?;
    rows::log_softmax_backward(stream, &result, &gradient, &mut dx)?;
    assert_near(&format!("log_softmax_backward of {m}x{n}"), n, &dx.to_vec(stream)?, &required);
    Ok(())
}

#[test]
fn softmax_and_its_gradients_are_those_of_f64_in_bf16() -> Result<()> {
    every_shape::<bf16>()
}

#[test]
fn softmax_and_its_gradients_are_those_of_f64_in_f16() -> Result<()> {
    every_shape::<f16>()
}

#[test]
fn softmax_and_its_gradients_are_those_of_f64_in_f32() -> Result<()> {
    every_shape::<f32>()
}

/// What is outside of a row has no power, however far the row is below 0.
#[test]
fn rows_far_below_zero_have_a_result() -> Result<()> {
    let stream = crate::support::device(rows::TARGETS)?.stream()?;
    for n in [5, 199, 999, 4097, 20_000, 40_000] {
        let x: Vec<f32> = spread::<f32>(n, 7).into_iter().map(|x| x - 1000.0).collect();
        forward(&stream, &x, n)?;
    }
    Ok(())
}

/// Rows that do not fit shared memory.
#[test]
fn the_longest_rows_are_those_of_f64() -> Result<()> {
    for device in devices(rows::TARGETS)? {
        let stream = device.stream()?;
        for shape in [[1, 66_000], [1, 66_001]] {
            forward(&stream, &spread::<bf16>(shape[1], 1), shape[1])?;
            backward::<bf16>(&stream, shape)?;
        }
    }
    Ok(())
}

/// The gradient of the loss Σ w · softmax(x) against differences of that loss in f64.
#[test]
fn gradients_are_the_slopes_of_a_loss() -> Result<()> {
    const STEP: f64 = 1e-5;
    let stream = crate::support::device(rows::TARGETS)?.stream()?;
    let n = 21;
    let (x, w) = (numbers::<f32>(n, 3), numbers::<f32>(n, 4));
    let loss = |x: &[f64], of: fn(f64) -> f64| -> f64 {
        logarithms(x).iter().zip(&w).map(|(&(ln, _), w)| of(ln) * w.value()).sum()
    };
    let slopes = |of: fn(f64) -> f64| -> Vec<(f64, f64)> {
        (0..n)
            .map(|i| {
                let at = |step: f64| {
                    let mut x = values(&x);
                    x[i] += step;
                    loss(&x, of)
                };
                // The step is off by its square and the third derivative, below 10; f64 by 1e-16 over the step. A y that is rounded to
                // f32, and the arithmetic of the gradient, are off by fewer than 100 roundings of numbers up to Σ |w|.
                let off = 10.0 * STEP * STEP + 1e-15 / STEP + 100.0 * ROUNDING * n as f64;
                ((at(STEP) - at(-STEP)) / (2.0 * STEP), off)
            })
            .collect()
    };
    let (x, w) = (stream.upload(&x, [1, n])?, stream.upload(&w, [1, n])?);
    let (mut y, mut dx) = (stream.zeros([1, n])?, stream.zeros([1, n])?);
    rows::softmax(&stream, &x, &mut y)?;
    rows::softmax_backward(&stream, &y, &w, &mut dx)?;
    assert_near("softmax", n, &dx.to_vec(&stream)?, &slopes(f64::exp));
    rows::log_softmax(&stream, &x, &mut y)?;
    rows::log_softmax_backward(&stream, &y, &w, &mut dx)?;
    assert_near("log_softmax", n, &dx.to_vec(&stream)?, &slopes(|ln| ln));
    Ok(())
}

#[test]
fn nan_and_infinities_are_those_of_pytorch() -> Result<()> {
    const INF: f32 = f32::INFINITY;
    let stream = crate::support::device(rows::TARGETS)?.stream()?;
    // A row in registers, one in shared memory and one that is read twice.
    for n in [5, 20_000, 40_000] {
        let row = |first: &[f32], rest: f32| {
            let mut row = vec![rest; n];
            row[..first.len()].copy_from_slice(first);
            row
        };
        let x = [
            row(&[f32::NAN, 1.0], 2.0),
            row(&[INF], 0.0),
            row(&[], -INF),
            row(&[1.0, -INF, 1.0], -INF),
            row(&[3e38, -3e38], -INF),
        ]
        .concat();
        let x = stream.upload(&x, [5, n])?;
        let mut y = stream.zeros([5, n])?;
        rows::softmax(&stream, &x, &mut y)?;
        let result = y.to_vec(&stream)?;
        assert!(result[..3 * n].iter().all(|y| y.is_nan()), "rows without a result, {n} columns");
        assert_eq!(result[3 * n..], [row(&[0.5, 0.0, 0.5], 0.0), row(&[1.0], 0.0)].concat());

        rows::log_softmax(&stream, &x, &mut y)?;
        let result = y.to_vec(&stream)?;
        assert!(result[..3 * n].iter().all(|y| y.is_nan()), "rows without a result, {n} columns");
        let half = -std::f32::consts::LN_2;
        assert_eq!(
            result[3 * n..],
            [row(&[half, -INF, half], -INF), row(&[0.0, -INF], -INF)].concat()
        );
    }
    Ok(())
}

#[test]
fn views_are_read_and_written_in_place() -> Result<()> {
    let stream = crate::support::device(rows::TARGETS)?.stream()?;
    let host = spread::<bf16>(6 * 40, 5);
    let x = stream.upload(&host, [6, 40])?;
    let mut all = stream.full([6, 96], bf16::NAN)?;
    // Columns 3 to 35 of the one into columns 17 to 49 of the other, row by row and then transposed.
    rows::softmax(&stream, &x.slice(1, 3..35)?, &mut all.slice_mut(1, 17..49)?)?;
    let mut apart = stream.zeros([6, 32])?;
    let cut: Vec<bf16> = host.chunks(40).flat_map(|row| row[3..35].to_vec()).collect();
    rows::softmax(&stream, &stream.upload(&cut, [6, 32])?, &mut apart)?;
    let (all, apart) = (all.to_vec(&stream)?, apart.to_vec(&stream)?);
    for (all, apart) in all.chunks(96).zip(apart.chunks(32)) {
        assert_eq!(&all[17..49], apart);
        assert!(all[..17].iter().chain(&all[49..]).all(|x| x.is_nan()), "written beside the view");
    }
    let columns = stream.upload(&host, [40, 6])?;
    let mut y = stream.full([6, 40], bf16::NAN)?;
    rows::softmax(&stream, &columns.transpose(), &mut y)?;
    let turned: Vec<bf16> = (0..6 * 40).map(|i| host[i % 40 * 6 + i / 40]).collect();
    let mut required = stream.zeros([6, 40])?;
    rows::softmax(&stream, &stream.upload(&turned, [6, 40])?, &mut required)?;
    assert_eq!(y.to_vec(&stream)?, required.to_vec(&stream)?);
    Ok(())
}

#[test]
fn empty_matrices_have_no_result_and_other_shapes_are_refused() -> Result<()> {
    let stream = crate::support::device(rows::TARGETS)?.stream()?;
    let tensor = |shape| -> Result<DeviceTensor<f16, 2>> { stream.zeros(shape) };
    for shape in [[0, 5], [5, 0], [0, 0]] {
        let x = tensor(shape)?;
        rows::softmax(&stream, &x, &mut tensor(shape)?)?;
        rows::log_softmax(&stream, &x, &mut tensor(shape)?)?;
        rows::softmax_backward(&stream, &x, &x, &mut tensor(shape)?)?;
        rows::log_softmax_backward(&stream, &x, &x, &mut tensor(shape)?)?;
    }
    let (x, other) = (tensor([4, 8])?, tensor([4, 9])?);
    for refused in [
        rows::softmax(&stream, &x, &mut tensor([8, 4])?),
        rows::log_softmax(&stream, &x, &mut tensor([4, 9])?),
        rows::softmax_backward(&stream, &x, &other, &mut tensor([4, 8])?),
        rows::softmax_backward(&stream, &x, &x, &mut tensor([5, 8])?),
        rows::log_softmax_backward(&stream, &x, &other, &mut tensor([4, 8])?),
    ] {
        assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
    }
    Ok(())
}
