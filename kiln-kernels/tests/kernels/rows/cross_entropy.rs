#![expect(clippy::float_cmp, reason = "exact results")]

use half::{bf16, f16};
use kiln::prelude::{DeviceTensor, Error, Result, Stream};
use kiln_kernels::Real;
use kiln_kernels::rows::{
    self, CrossEntropy, cross_entropy, cross_entropy_backward, cross_entropy_backward_in_place,
};

use super::{ADDITIONS, ROUNDING, SHAPES, assert_near, values, within};
use crate::support::{Number, device, devices, numbers};

pub(crate) const PLAIN: CrossEntropy = CrossEntropy { ignore: -100, smoothing: 0.0 };
pub(crate) const SMOOTH: CrossEntropy = CrossEntropy { ignore: 2, smoothing: 0.125 };

/// Classes for the rows: first, last, any; and some that are ignored.
pub(crate) fn targets(rows: usize, classes: usize, options: CrossEntropy) -> Vec<i32> {
    let class = |class: usize| i32::try_from(class).expect("there are few classes");
    (0..rows)
        .map(|row| match row % 5 {
            0 => class(classes - 1),
            1 => 0,
            2 => options.ignore,
            _ => class(row * 7919 % classes),
        })
        .collect()
}

/// Of a row: its greatest element, the logarithm of its sum of powers less that, and the loss.
fn loss(row: &[f64], target: i32, options: CrossEntropy) -> (f64, f64, f64) {
    let top = row.iter().copied().fold(f64::MIN, f64::max);
    let ln = row.iter().map(|x| (x - top).exp()).sum::<f64>().ln();
    let smoothing = f64::from(options.smoothing);
    let mean = row.iter().sum::<f64>() / row.len() as f64;
    let loss = match usize::try_from(target) {
        _ if target == options.ignore => 0.0,
        Ok(target) => ln + (1.0 - smoothing) * (top - row[target]) + smoothing * (top - mean),
        Err(_) => f64::NAN,
    };
    (top, ln, loss)
}

/// Losses of rows of up to 16 in size, what is stored of them, and gradients, each with how far it may be off.
pub(crate) struct Required {
    pub(crate) losses: Vec<(f64, f64)>,
    pub(crate) log_sums: Vec<(f64, f64)>,
    pub(crate) gradients: Vec<(f64, f64)>,
}

impl Required {
    pub(crate) fn new(
        logits: &[f64],
        n: usize,
        classes: &[i32],
        by: &[f32],
        options: CrossEntropy,
    ) -> Required {
        let (mut losses, mut log_sums, mut gradients) = (Vec::new(), Vec::new(), Vec::new());
        for (row, (&target, by)) in logits.chunks(n).zip(classes.iter().zip(by)) {
            let (top, ln, loss) = loss(row, target, options);
            // Powers of distances d are off by (2 + 1.25 d) units and the rounding of d. As shares of the sum these are below 4 units. Then
            // come the additions and the logarithm, and sums and products of distances up to 16, of which those of all classes have a mean.
            let power = ADDITIONS + 16.0;
            let off = (power + 4.0 * ln + 16.0 * (ADDITIONS + 8.0)) * ROUNDING;
            losses.push((loss, off));
            let known = target != options.ignore;
            log_sums.push(if known {
                (top + ln, (power + 4.0 * ln + top.abs()) * ROUNDING)
            } else {
                (0.0, 0.0)
            });
            let smoothing = f64::from(options.smoothing);
            for (class, x) in row.iter().enumerate() {
                let p = (x - top - ln).exp();
                let hit = i32::try_from(class).is_ok_and(|class| class == target);
                let label = if hit { 1.0 - smoothing } else { 0.0 } + smoothing / n as f64;
                let (value, size) = ((p - label) * by.value(), by.value().abs());
                // The power has the error of the logarithm of the sum, whose rounding counts by its size.
                let off = p * (power + 4.0 * ln + (top + ln).abs() + (x - top - ln).abs() + 8.0);
                let off = (off + 4.0 * label + 2.0 * (p - label).abs()) * size * ROUNDING;
                gradients.push(if known { (value, off) } else { (0.0, 0.0) });
            }
        }
        Required { losses, log_sums, gradients }
    }
}

fn every_shape<T: Number + Real>() -> Result<()> {
    for device in devices(rows::TARGETS)? {
        let stream = device.stream()?;
        for &shape in SHAPES {
            for options in [PLAIN, SMOOTH] {
                case::<T>(&stream, shape, options)?;
            }
        }
    }
    Ok(())
}

fn case<T: Number + Real>(
    stream: &Stream,
    [m, n]: [usize; 2],
    options: CrossEntropy,
) -> Result<()> {
    let host: Vec<T> = numbers::<T>(m * n, 1).into_iter().map(|x| T::of(x.value() * 8.0)).collect();
    let classes = targets(m, n, options);
    let by = numbers::<f32>(m, 2);
    let Required { losses, log_sums, gradients } =
        Required::new(&values(&host), n, &classes, &by, options);
    let what = format!("cross_entropy of {m}x{n}, {options:?}");
    let mut logits = stream.upload(&host, [m, n])?;
    let (classes, by) = (stream.upload(&classes, [m])?, stream.upload(&by, [m])?);
    let nan = |len: usize| stream.full([len], f32::NAN);
    let (mut actual, mut sums) = (nan(m)?, nan(m)?);
    cross_entropy(stream, &logits, &classes, options, &mut actual, Some(&mut sums))?;
    assert_near(&what, 1, &actual.to_vec(stream)?, &losses);
    assert_near(&format!("sums of {what}"), 1, &sums.to_vec(stream)?, &log_sums);
    let mut alone = nan(m)?;
    cross_entropy(stream, &logits, &classes, options, &mut alone, None)?;
    assert_eq!(alone.to_vec(stream)?, actual.to_vec(stream)?, "{what}, without sums");

    let mut gradient = stream.full([m, n], T::of(f64::NAN))?;
    cross_entropy_backward(stream, &logits, &classes, options, &sums, &by, &mut gradient)?;
    let apart = gradient.to_vec(stream)?;
    assert_near(&format!("gradient of {what}"), n, &apart, &gradients);
    cross_entropy_backward_in_place(stream, &mut logits, &classes, options, &sums, &by)?;
    assert_eq!(values(&logits.to_vec(stream)?), values(&apart), "{what}, in place");
    Ok(())
}

#[test]
fn losses_and_their_gradients_are_those_of_f64_in_bf16() -> Result<()> {
    every_shape::<bf16>()
}

#[test]
fn losses_and_their_gradients_are_those_of_f64_in_f16() -> Result<()> {
    every_shape::<f16>()
}

#[test]
fn losses_and_their_gradients_are_those_of_f64_in_f32() -> Result<()> {
    every_shape::<f32>()
}

/// The gradient against differences of the loss in f64.
#[test]
fn the_gradient_is_the_slope_of_the_loss() -> Result<()> {
    const STEP: f64 = 1e-5;
    let stream = device(rows::TARGETS)?.stream()?;
    let n = 13;
    let x = numbers::<f32>(n, 3);
    let slopes: Vec<_> = (0..n)
        .map(|i| {
            let at = |step: f64| {
                let mut x = values(&x);
                x[i] += step;
                loss(&x, 4, SMOOTH).2
            };
            // The third derivative is below 1, f64 is off by 1e-16 over the step, and f32 by fewer than 100 roundings of numbers below 4.
            let off = STEP * STEP + 1e-15 / STEP + 400.0 * ROUNDING;
            ((at(STEP) - at(-STEP)) / (2.0 * STEP), off)
        })
        .collect();
    let (logits, target) = (stream.upload(&x, [1, n])?, stream.upload(&[4], [1])?);
    let (mut loss, mut sums) = (stream.zeros([1])?, stream.zeros([1])?);
    let mut gradient = stream.zeros([1, n])?;
    cross_entropy(&stream, &logits, &target, SMOOTH, &mut loss, Some(&mut sums))?;
    let by = stream.full([1], 1.0)?;
    cross_entropy_backward(&stream, &logits, &target, SMOOTH, &sums, &by, &mut gradient)?;
    assert_near("slopes", n, &gradient.to_vec(&stream)?, &slopes);
    Ok(())
}

/// What is outside of a row has no power, however far the row is below 0.
#[test]
fn logits_far_below_zero_have_a_loss() -> Result<()> {
    let stream = device(rows::TARGETS)?.stream()?;
    for n in [5, 199, 999, 4000, 9000] {
        let x: Vec<f32> = numbers::<f32>(n, 7).into_iter().map(|x| x - 1000.0).collect();
        let (_, ln, required) = loss(&values(&x), 3, SMOOTH);
        let (logits, target) = (stream.upload(&x, [1, n])?, stream.upload(&[3], [1])?);
        let mut actual = stream.zeros([1])?;
        cross_entropy(&stream, &logits, &target, SMOOTH, &mut actual, None)?;
        // The sum of powers and its logarithm; and the mean of all logits, whose additions round numbers near 1000.
        let off = (ADDITIONS + 16.0 + 4.0 * ln + 0.125 * 1000.0 * (ADDITIONS + 4.0)) * ROUNDING;
        assert_near(&format!("{n} classes"), 1, &actual.to_vec(&stream)?, &[(required, off)]);
    }
    Ok(())
}

/// Columns of wider matrices, and a transposed matrix: what is beside them stays as it is.
#[test]
fn views_of_logits_are_read_and_written_in_place() -> Result<()> {
    let stream = device(rows::TARGETS)?.stream()?;
    let (m, n) = (5, 40);
    let host = numbers::<bf16>(m * n, 1);
    let targets = stream.upload(&targets(m, n, PLAIN), [m])?;
    let (mut loss, mut sums) = (stream.zeros([m])?, stream.zeros([m])?);
    let (by, mut gradient) = (stream.full([m], 1.0)?, stream.zeros([m, n])?);
    let logits = stream.upload(&host, [m, n])?;
    cross_entropy(&stream, &logits, &targets, PLAIN, &mut loss, Some(&mut sums))?;
    cross_entropy_backward(&stream, &logits, &targets, PLAIN, &sums, &by, &mut gradient)?;
    let (loss, gradient) = (loss.to_vec(&stream)?, gradient.to_vec(&stream)?);

    let mut all = stream.upload(&within(&host, n, 7), [m, 64])?;
    let mut part = all.slice_mut(1, 7..7 + n)?;
    let mut result = stream.zeros([m])?;
    cross_entropy(&stream, &part, &targets, PLAIN, &mut result, None)?;
    assert_eq!(result.to_vec(&stream)?, loss);
    cross_entropy_backward_in_place(&stream, &mut part, &targets, PLAIN, &sums, &by)?;
    // NaN equals nothing.
    let bits = |of: Vec<bf16>| of.into_iter().map(bf16::to_bits).collect::<Vec<_>>();
    assert_eq!(bits(all.to_vec(&stream)?), bits(within(&gradient, n, 7)));
    let turned: Vec<bf16> = (0..n * m).map(|i| host[i % m * n + i / m]).collect();
    let turned = stream.upload(&turned, [n, m])?;
    cross_entropy(&stream, &turned.transpose(), &targets, PLAIN, &mut result, None)?;
    assert_eq!(result.to_vec(&stream)?, loss);
    Ok(())
}

/// A confident row: the loss is far below the logits, and is exact all the same.
#[test]
fn a_small_loss_of_large_logits_is_exact() -> Result<()> {
    let stream = device(rows::TARGETS)?.stream()?;
    for n in [8, 9000] {
        let mut x = vec![-5000.0f32; n];
        (x[1], x[3]) = (10_000.0, 9_990.0);
        let logits = stream.upload(&x, [1, n])?;
        let target = stream.upload(&[1], [1])?;
        let mut loss = stream.zeros([1])?;
        cross_entropy(&stream, &logits, &target, PLAIN, &mut loss, None)?;
        // ln(1 + exp(-10)), where f32 rounds 1 + exp(-10) by half a unit.
        let required = (1.0 + (-10f64).exp()).ln();
        assert_near("loss", 1, &loss.to_vec(&stream)?, &[(required, 2.0 * ROUNDING)]);
    }
    Ok(())
}

#[test]
fn targets_that_are_no_class_and_rows_without_a_sum_are_nan() -> Result<()> {
    let stream = device(rows::TARGETS)?.stream()?;
    for n in [6, 9000] {
        let classes = i32::try_from(n).expect("there are few classes");
        let mut x = vec![0.0f32; 8 * n];
        x[4 * n + 1] = f32::NAN;
        x[5 * n + 1] = f32::INFINITY;
        x[6 * n..7 * n].fill(f32::NEG_INFINITY);
        x[7 * n + 2] = f32::NEG_INFINITY;
        let targets = [classes, -1, i32::MIN, i32::MAX, 0, 0, 0, 2];
        let (logits, targets) = (stream.upload(&x, [8, n])?, stream.upload(&targets, [8])?);
        let (mut loss, mut sums) = (stream.zeros([8])?, stream.zeros([8])?);
        cross_entropy(&stream, &logits, &targets, PLAIN, &mut loss, Some(&mut sums))?;
        let result = loss.to_vec(&stream)?;
        assert!(result[..7].iter().all(|x| x.is_nan()), "{n}: {result:?}");
        assert_eq!(result[7], f32::INFINITY, "{n}: a target without probability");

        let mut gradient = stream.zeros([8, n])?;
        let by = stream.full([8], 1.0)?;
        cross_entropy_backward(&stream, &logits, &targets, PLAIN, &sums, &by, &mut gradient)?;
        let result = gradient.to_vec(&stream)?;
        assert!(result[..7 * n].iter().all(|x| x.is_nan()), "{n} classes");
        assert_eq!(result[7 * n + 2], -1.0, "{n} classes");

        // An ignored row is 0, whatever it holds.
        let nothing = stream.full([8], PLAIN.ignore)?;
        cross_entropy(&stream, &logits, &nothing, PLAIN, &mut loss, Some(&mut sums))?;
        assert_eq!(loss.to_vec(&stream)?, [0.0; 8]);
        cross_entropy_backward(&stream, &logits, &nothing, PLAIN, &sums, &by, &mut gradient)?;
        assert!(gradient.to_vec(&stream)?.iter().all(|&x| x == 0.0), "{n} classes");
    }
    Ok(())
}

#[test]
fn without_rows_or_classes_nothing_is_known_and_other_shapes_are_refused() -> Result<()> {
    let stream = device(rows::TARGETS)?.stream()?;
    let tensor = |shape| -> Result<DeviceTensor<f16, 2>> { stream.zeros(shape) };
    let vector = |len| -> Result<DeviceTensor<f32, 1>> { stream.zeros([len]) };
    let targets = |len| -> Result<DeviceTensor<i32, 1>> { stream.zeros([len]) };
    let x = tensor([0, 7])?;
    cross_entropy(&stream, &x, &targets(0)?, PLAIN, &mut vector(0)?, None)?;
    let (none, mut y) = (vector(0)?, tensor([0, 7])?);
    cross_entropy_backward(&stream, &x, &targets(0)?, PLAIN, &none, &none, &mut y)?;
    // No target is one of no classes.
    let (x, mut loss) = (tensor([3, 0])?, vector(3)?);
    cross_entropy(&stream, &x, &targets(3)?, PLAIN, &mut loss, None)?;
    assert!(loss.to_vec(&stream)?.iter().all(|x| x.is_nan()));

    let (x, t, v) = (tensor([4, 8])?, targets(4)?, vector(4)?);
    let (mut loss, mut y) = (vector(4)?, tensor([4, 8])?);
    let three = vector(3)?;
    for refused in [
        cross_entropy(&stream, &x, &targets(3)?, PLAIN, &mut loss, None),
        cross_entropy(&stream, &x, &t, PLAIN, &mut vector(5)?, None),
        cross_entropy(&stream, &x, &t, PLAIN, &mut loss, Some(&mut vector(5)?)),
        cross_entropy_backward(&stream, &x, &t, PLAIN, &v, &v, &mut tensor([4, 9])?),
        cross_entropy_backward(&stream, &x, &targets(3)?, PLAIN, &v, &v, &mut y),
        cross_entropy_backward(&stream, &x, &t, PLAIN, &three, &v, &mut y),
        cross_entropy_backward_in_place(&stream, &mut y, &t, PLAIN, &v, &three),
    ] {
        assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
    }
    Ok(())
}
