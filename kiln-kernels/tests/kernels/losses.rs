//! Losses of products, and their gradients, against the same in f64.

#![expect(clippy::cast_precision_loss, clippy::float_cmp, reason = "numbers are small, or exact")]

use half::{bf16, f16};
use kiln::prelude::{DeviceTensor, Error, Result, Stream};
use kiln_kernels::{
    Half,
    losses::{LinearCrossEntropy, WeightGradient, cross_entropy_in_place},
    rows::CrossEntropy,
};

use crate::{
    rows::{
        assert_near,
        cross_entropy::{PLAIN, Required, SMOOTH, targets},
        values, within,
    },
    support::{Number, device, numbers},
};

fn stream() -> Result<Stream> {
    device(LinearCrossEntropy::<bf16>::TARGETS)?.stream()
}

/// Rows of every kernel and size of cluster, and of more than all keep.
const ROWS: &[[usize; 2]] =
    &[[9, 7], [5, 999], [6, 1030], [4, 8200], [3, 40_003], [3, 70_000], [3, 131_080], [3, 262_152]];

fn in_place<T: Number + Half>(
    stream: &Stream,
    [m, n]: [usize; 2],
    options: CrossEntropy,
) -> Result<()> {
    let host: Vec<T> = numbers::<T>(m * n, 1).into_iter().map(|x| T::of(x.value() * 8.0)).collect();
    let (classes, by) = (targets(m, n, options), numbers::<f32>(m, 2));
    let required = Required::new(&values(&host), n, &classes, &by, options);
    let mut logits = stream.upload(&host, [m, n])?;
    let (classes, by) = (stream.upload(&classes, [m])?, stream.upload(&by, [m])?);
    let mut loss = stream.full([m], f32::NAN)?;
    cross_entropy_in_place(stream, &mut logits, &classes, options, &by, &mut loss)?;
    let what = format!("{m}x{n}, {options:?}");
    assert_near(&format!("loss of {what}"), 1, &loss.to_vec(stream)?, &required.losses);
    assert_near(&format!("gradient of {what}"), n, &logits.to_vec(stream)?, &required.gradients);
    Ok(())
}

#[test]
fn logits_become_their_gradient() -> Result<()> {
    let stream = stream()?;
    for &shape in ROWS {
        in_place::<bf16>(&stream, shape, SMOOTH)?;
    }
    for &shape in &ROWS[..5] {
        in_place::<f16>(&stream, shape, PLAIN)?;
    }
    Ok(())
}

#[test]
fn targets_that_are_no_class_and_rows_without_a_sum_are_nan_and_ignored_rows_are_zeros()
-> Result<()> {
    let stream = stream()?;
    for n in [6, 9000, 40_000] {
        let classes = i32::try_from(n).expect("there are few classes");
        let mut x = vec![bf16::ZERO; 7 * n];
        x[3 * n + 1] = bf16::NAN;
        x[4 * n + 1] = bf16::INFINITY;
        x[5 * n..6 * n].fill(bf16::NEG_INFINITY);
        x[6 * n + 3] = bf16::NAN;
        let mut logits = stream.upload(&x, [7, n])?;
        let targets = [classes, -1, i32::MAX, 0, 0, 0, PLAIN.ignore];
        let targets = stream.upload(&targets, [7])?;
        let (by, mut loss) = (stream.full([7], 1.0)?, stream.zeros([7])?);
        cross_entropy_in_place(&stream, &mut logits, &targets, PLAIN, &by, &mut loss)?;
        let loss = loss.to_vec(&stream)?;
        assert!(loss[..6].iter().all(|x| x.is_nan()), "{n}: {loss:?}");
        assert_eq!(loss[6], 0.0, "{n}");
        let gradient = logits.to_vec(&stream)?;
        assert!(gradient[..6 * n].iter().all(|x| x.is_nan()), "{n}");
        assert!(gradient[6 * n..].iter().all(|&x| x == bf16::ZERO), "{n}");
    }
    Ok(())
}

/// Hidden states, weights and targets.
struct Case<T> {
    tokens: usize,
    d: usize,
    vocabulary: usize,
    hidden: Vec<T>,
    weight: Vec<T>,
    targets: Vec<i32>,
    by: Vec<f32>,
}

impl<T: Number + Half> Case<T> {
    fn new([tokens, d, vocabulary]: [usize; 3], options: CrossEntropy) -> Case<T> {
        Case {
            tokens,
            d,
            vocabulary,
            hidden: numbers(tokens * d, 1),
            weight: numbers(vocabulary * d, 2),
            targets: targets(tokens, vocabulary, options),
            by: numbers(tokens, 3),
        }
    }

    /// Loss, gradient of hidden states and gradient of weights, each with how far it may be off before it is rounded.
    fn required(&self, chunk: usize, options: CrossEntropy) -> [Vec<(f64, f64)>; 3] {
        let &Case { tokens, d, vocabulary, .. } = self;
        let (hidden, weight) = (values(&self.hidden), values(&self.weight));
        let rounded = |(value, off): (f64, f64)| off + T::UNIT / 2.0 * (value.abs() + off);
        // Products are exact in f32; each of k sums rounds by 2^-24 of a sum below `size`, and Hopper cuts off twice that.
        let of_sums = |k: usize, size: f64| k as f64 * 2f64.powi(-23) * size;
        let (mut logits, mut logits_off) = (Vec::new(), Vec::new());
        for row in hidden.chunks(d) {
            let mut most = 0f64;
            for word in weight.chunks(d) {
                let terms = || row.iter().zip(word).map(|(x, w)| x * w);
                let sum: f64 = terms().sum();
                most = most.max(rounded((sum, of_sums(d, terms().map(f64::abs).sum()))));
                logits.push(sum);
            }
            logits_off.push(most);
        }
        let Required { losses, gradients, .. } =
            Required::new(&logits, vocabulary, &self.targets, &self.by, options);
        let log_sum = |row: &[f64]| row.iter().map(|x| x.exp()).sum::<f64>().ln();
        // A loss is off by no more than logarithm and target are together; a power by its exponent.
        let losses = losses.into_iter().zip(&logits_off);
        let losses = losses.map(|((loss, off), by)| (loss, off + 2.0 * by)).collect();
        let mut d_logits = gradients;
        for (t, row) in logits.chunks(vocabulary).enumerate() {
            let (sum, of_power) = (log_sum(row), (2.0 * logits_off[t]).exp_m1());
            for (x, d) in row.iter().zip(&mut d_logits[t * vocabulary..]) {
                let p = (x - sum).exp() * f64::from(self.by[t]).abs();
                d.1 = rounded((d.0, d.1 + p * of_power)) + 2f64.powi(-25);
            }
        }
        let mut d_hidden = Vec::new();
        for row in d_logits.chunks(vocabulary) {
            for i in 0..d {
                let terms = || row.iter().zip(weight.chunks(d)).map(|(d, w)| (d, w[i]));
                let off: f64 = terms().map(|((_, off), w)| off * w.abs()).sum();
                let size: f64 = terms().map(|((d, off), w)| (d.abs() + off) * w.abs()).sum();
                let sum = terms().map(|((d, _), w)| d * w).sum();
                d_hidden.push((sum, off + of_sums(vocabulary, size)));
            }
        }
        let mut d_weight = vec![(0.0, 0.0); vocabulary * d];
        let chunks = d_logits.chunks(chunk * vocabulary).zip(hidden.chunks(chunk * d));
        for (at, (d_logits, hidden)) in chunks.enumerate() {
            for (v, d_row) in d_weight.chunks_mut(d).enumerate() {
                for (i, d_weight) in d_row.iter_mut().enumerate() {
                    if at > 0 {
                        d_weight.1 = rounded(*d_weight);
                    }
                    let terms = || {
                        let column = d_logits.iter().skip(v).step_by(vocabulary);
                        column.zip(hidden.chunks(d)).map(|(d, h)| (d, h[i]))
                    };
                    let size: f64 = terms().map(|((d, off), h)| (d.abs() + off) * h.abs()).sum();
                    d_weight.0 += terms().map(|((d, _), h)| d * h).sum::<f64>();
                    // The old sum is added in f32 too.
                    d_weight.1 += terms().map(|((_, off), h)| off * h.abs()).sum::<f64>()
                        + of_sums(chunk, size)
                        + 2f64.powi(-24) * d_weight.0.abs();
                }
            }
        }
        assert_eq!(d_hidden.len(), tokens * d);
        [losses, d_hidden, d_weight]
    }

    fn upload(&self, stream: &Stream) -> Result<Uploaded<T>> {
        let &Case { tokens, d, vocabulary, .. } = self;
        Ok(Uploaded {
            hidden: stream.upload(&self.hidden, [tokens, d])?,
            weight: stream.upload(&self.weight, [vocabulary, d])?,
            targets: stream.upload(&self.targets, [tokens])?,
            by: stream.upload(&self.by, [tokens])?,
        })
    }
}

struct Uploaded<T> {
    hidden: DeviceTensor<T, 2>,
    weight: DeviceTensor<T, 2>,
    targets: DeviceTensor<i32, 1>,
    by: DeviceTensor<f32, 1>,
}

impl<T: Number + Half> Uploaded<T> {
    /// The losses, the gradients of the hidden states, and those of the weights.
    fn gradients(
        &self,
        linear: &mut LinearCrossEntropy<T>,
        stream: &Stream,
        options: CrossEntropy,
        d_weight: WeightGradient<'_, T>,
    ) -> Result<(Vec<f32>, Vec<T>)> {
        let Uploaded { hidden, weight, targets, by } = self;
        let mut loss = stream.full(targets.shape(), f32::NAN)?;
        let mut d_hidden = stream.full(hidden.shape(), T::of(f64::NAN))?;
        let (loss_given, d_given) = (&mut loss, &mut d_hidden);
        linear.gradients(
            stream, hidden, weight, targets, options, by, loss_given, d_given, d_weight,
        )?;
        Ok((loss.to_vec(stream)?, d_hidden.to_vec(stream)?))
    }
}

/// `chunk` is how many tokens `chunk_bytes` are.
fn case<T: Number + Half>(
    shape: [usize; 3],
    options: CrossEntropy,
    (chunk_bytes, chunk): (usize, usize),
) -> Result<()> {
    let stream = stream()?;
    let case = Case::<T>::new(shape, options);
    let [tokens, d, vocabulary] = shape;
    let [losses, d_hiddens, d_weights] = case.required(chunk, options);
    let given = case.upload(&stream)?;
    let mut linear = LinearCrossEntropy::<T>::in_chunks_of(chunk_bytes, &stream)?;
    let mut d_weight = stream.full([vocabulary, d], T::of(f64::NAN))?;
    let gradient = WeightGradient::Replaced(&mut d_weight);
    let (loss, d_hidden) = given.gradients(&mut linear, &stream, options, gradient)?;
    let what = format!("{shape:?}, {options:?}");
    assert_near(&format!("loss of {what}"), 1, &loss, &losses);
    assert_near(&format!("hidden states of {what}"), d, &d_hidden, &d_hiddens);
    assert_near(&format!("weights of {what}"), d, &d_weight.to_vec(&stream)?, &d_weights);

    let mut alone = stream.full([tokens], f32::NAN)?;
    let Uploaded { hidden, weight, targets, .. } = &given;
    linear.loss(&stream, hidden, weight, targets, options, &mut alone)?;
    assert_near(&format!("loss alone of {what}"), 1, &alone.to_vec(&stream)?, &losses);
    let (_, without) = given.gradients(&mut linear, &stream, options, WeightGradient::Unwanted)?;
    assert_eq!(values(&without), values(&d_hidden), "{what}, without weights");
    Ok(())
}

/// Tokens in one chunk.
const WHOLE: (usize, usize) = (1 << 20, usize::MAX / (1 << 20));

#[test]
fn losses_of_products_and_their_gradients_are_those_of_f64() -> Result<()> {
    case::<bf16>([1, 8, 3], PLAIN, WHOLE)?;
    case::<bf16>([21, 72, 200], SMOOTH, WHOLE)?;
    case::<bf16>([9, 12, 20], PLAIN, WHOLE)?; // rows of 24 bytes
    case::<f16>([35, 24, 77], SMOOTH, WHOLE)
}

/// Three chunks, of 128, 128 and 44 tokens, whose rows of logits are no multiple of 16 bytes.
#[test]
fn chunks_give_the_same_losses_and_add_up_the_gradients_of_weights() -> Result<()> {
    case::<bf16>([300, 24, 61], PLAIN, (128 * 64 * 2, 128))?;
    case::<f16>([300, 16, 40], SMOOTH, (1, 128))
}

#[test]
fn chunks_are_equal_multiples_of_128_tokens_within_a_number_of_bytes() -> Result<()> {
    let stream = stream()?;
    let losses = LinearCrossEntropy::<bf16>::new(&stream)?;
    // 256 MiB are 1046 rows of 128256 words, in multiples of 128 tokens 1024.
    for (tokens, chunk) in [(8192, 1024), (1100, 640), (1024, 1024), (1, 1), (0, 0)] {
        assert_eq!(losses.chunk(tokens, 128_256), chunk, "{tokens} tokens");
    }
    // Rows begin at multiples of 16 bytes: those of 61 words have 128 bytes.
    for (bytes, chunk) in [(1, 128), (255 * 128, 128), (256 * 128, 256), (1 << 30, 300)] {
        let losses = LinearCrossEntropy::<f16>::in_chunks_of(bytes, &stream)?;
        assert_eq!(losses.chunk(300, 61), chunk, "{bytes} bytes");
    }
    Ok(())
}

/// The formulas that other tests compare with, against differences of the loss in f64.
#[test]
fn the_required_gradients_are_the_slopes_of_the_loss() {
    const STEP: f64 = 1e-5;
    let shape = [3, 2, 5];
    let mut case = Case::<f16>::new(shape, SMOOTH);
    case.by = vec![1.0; 3];
    let [losses, d_hidden, d_weight] = case.required(8, SMOOTH);
    let total = |hidden: &[f64], weight: &[f64]| -> f64 {
        let logits: Vec<f64> = hidden
            .chunks(2)
            .flat_map(|h| weight.chunks(2).map(move |w| h[0] * w[0] + h[1] * w[1]))
            .collect();
        let all = Required::new(&logits, 5, &case.targets, &case.by, SMOOTH);
        all.losses.iter().map(|(loss, _)| loss).sum()
    };
    let (hidden, weight) = (values(&case.hidden), values(&case.weight));
    let sum: f64 = losses.iter().map(|(loss, _)| loss).sum();
    assert!((total(&hidden, &weight) - sum).abs() < 1e-12);
    let moved = |of: &[f64], i: usize, step: f64| {
        let mut of = of.to_vec();
        of[i] += step;
        of
    };
    // The third derivative is below 10, and f64 is off by 1e-15 over the step.
    let limit = 10.0 * STEP * STEP + 1e-14 / STEP;
    for (i, (slope, _)) in d_hidden.into_iter().enumerate() {
        let at = |step| total(&moved(&hidden, i, step), &weight);
        let difference = (at(STEP) - at(-STEP)) / (2.0 * STEP);
        assert!((difference - slope).abs() < limit, "{difference} for {slope}");
    }
    for (i, (slope, _)) in d_weight.into_iter().enumerate() {
        let at = |step| total(&hidden, &moved(&weight, i, step));
        let difference = (at(STEP) - at(-STEP)) / (2.0 * STEP);
        assert!((difference - slope).abs() < limit, "{difference} for {slope}");
    }
}

/// Columns of wider matrices: what is beside them stays as it is. Memory that other extents have left serves the next, and a graph.
#[test]
fn views_and_recordings_give_the_same() -> Result<()> {
    let stream = stream()?;
    let (tokens, d, vocabulary) = (9, 24, 50);
    let case = Case::<bf16>::new([tokens, d, vocabulary], PLAIN);
    let given = case.upload(&stream)?;
    let mut linear = LinearCrossEntropy::new(&stream)?;
    let mut d_weight = stream.zeros([vocabulary, d])?;
    let gradient = WeightGradient::Replaced(&mut d_weight);
    let (loss, d_hidden) = given.gradients(&mut linear, &stream, PLAIN, gradient)?;

    let wide_hidden = stream.upload(&within(&case.hidden, d, 8), [tokens, 64])?;
    let wide_weight = stream.upload(&within(&case.weight, d, 16), [vocabulary, 64])?;
    let hidden = wide_hidden.slice(1, 8..8 + d)?;
    let weight = wide_weight.slice(1, 16..16 + d)?;
    let mut all_hidden = stream.full([tokens, 64], bf16::NAN)?;
    let mut all_weight = stream.full([vocabulary, 64], bf16::NAN)?;
    let mut d_hidden_part = all_hidden.slice_mut(1, 8..8 + d)?;
    let mut d_weight_part = all_weight.slice_mut(1, 16..16 + d)?;
    let mut again = stream.zeros([tokens])?;
    let graph = stream.device().capture(|stream| {
        let gradient = WeightGradient::Replaced(&mut d_weight_part);
        let d_hidden = &mut d_hidden_part;
        linear.gradients(
            stream,
            &hidden,
            &weight,
            &given.targets,
            PLAIN,
            &given.by,
            &mut again,
            d_hidden,
            gradient,
        )
    })?;
    graph.launch(&stream)?;
    assert_eq!(again.to_vec(&stream)?, loss);
    // NaN equals nothing.
    let bits = |of: Vec<bf16>| of.into_iter().map(bf16::to_bits).collect::<Vec<_>>();
    let required = within(&d_hidden, d, 8);
    assert_eq!(bits(all_hidden.to_vec(&stream)?), bits(required));
    let required = within(&d_weight.to_vec(&stream)?, d, 16);
    assert_eq!(bits(all_weight.to_vec(&stream)?), bits(required));
    Ok(())
}

/// Weights `[in, out]`, and the gradients of other tokens.
#[test]
fn weights_lie_along_either_axis_and_gradients_are_added_to_others() -> Result<()> {
    let stream = stream()?;
    let (tokens, d, vocabulary) = (9, 24, 43);
    let case = Case::<bf16>::new([tokens, d, vocabulary], SMOOTH);
    let [_, d_hiddens, d_weights] = case.required(tokens, SMOOTH);
    let Uploaded { hidden, targets, by, .. } = case.upload(&stream)?;
    // Columns begin at multiples of 16 bytes.
    let of = |i: usize, v: usize| if v < vocabulary { case.weight[v * d + i] } else { bf16::NAN };
    let turned: Vec<bf16> = (0..d * 48).map(|at| of(at / 48, at % 48)).collect();
    let turned = stream.upload(&turned, [d, 48])?;
    let weight = turned.slice(1, 0..vocabulary)?;
    let mut loss = stream.zeros([tokens])?;
    let mut d_hidden = stream.zeros([tokens, d])?;
    let mut d_weight = stream.full([vocabulary, d], bf16::from_f32(3.0))?;
    LinearCrossEntropy::new(&stream)?.gradients(
        &stream,
        &hidden,
        &weight.transpose(),
        &targets,
        SMOOTH,
        &by,
        &mut loss,
        &mut d_hidden,
        WeightGradient::Added(&mut d_weight),
    )?;
    assert_near("hidden states", d, &d_hidden.to_vec(&stream)?, &d_hiddens);
    // One more rounding of f32.
    let added =
        |(value, off): (f64, f64)| (value + 3.0, off + 2f64.powi(-24) * (value + 3.0).abs());
    let d_weights: Vec<_> = d_weights.into_iter().map(added).collect();
    assert_near("weights", d, &d_weight.to_vec(&stream)?, &d_weights);
    Ok(())
}

#[test]
fn without_tokens_or_words_gradients_are_zeros_and_other_shapes_are_refused() -> Result<()> {
    let stream = stream()?;
    let mut linear = LinearCrossEntropy::<f16>::new(&stream)?;
    let mut run = |hidden: [usize; 2], weight: [usize; 2], vectors: [usize; 3], d: [usize; 4]| {
        let (hidden, weight) = (stream.zeros(hidden)?, stream.zeros(weight)?);
        let [targets, by, loss] = vectors;
        let (targets, by) = (stream.zeros([targets])?, stream.zeros([by])?);
        let mut loss = stream.zeros([loss])?;
        let mut d_hidden = stream.full([d[0], d[1]], f16::NAN)?;
        let mut d_weight = stream.full([d[2], d[3]], f16::NAN)?;
        let gradient = WeightGradient::Replaced(&mut d_weight);
        linear.gradients(
            &stream,
            &hidden,
            &weight,
            &targets,
            PLAIN,
            &by,
            &mut loss,
            &mut d_hidden,
            gradient,
        )?;
        linear.loss(&stream, &hidden, &weight, &targets, PLAIN, &mut loss)?;
        Ok([d_hidden.to_vec(&stream)?, d_weight.to_vec(&stream)?].concat())
    };
    for [tokens, d, words] in [[0, 8, 16], [3, 8, 0], [0, 8, 0], [3, 0, 5]] {
        let all = run([tokens, d], [words, d], [tokens; 3], [tokens, d, words, d])?;
        assert!(all.iter().all(|&x| x == f16::ZERO), "{tokens} {d} {words}: {all:?}");
    }
    for refused in [
        run([3, 8], [5, 16], [3; 3], [3, 8, 5, 16]),
        run([3, 8], [5, 8], [4, 3, 3], [3, 8, 5, 8]),
        run([3, 8], [5, 8], [3, 4, 3], [3, 8, 5, 8]),
        run([3, 8], [5, 8], [3, 3, 2], [3, 8, 5, 8]),
        run([3, 8], [5, 8], [3; 3], [4, 8, 5, 8]),
        run([3, 8], [5, 8], [3; 3], [3, 8, 8, 8]),
    ] {
        assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
    }
    Ok(())
}
