//! The choice of experts, and the gradient of their weights.

use half::{bf16, f16};
use kiln::prelude::{DeviceTensor, Error, Result};
use kiln_kernels::{
    Real,
    routing::{TARGETS, TopK, Weights, top_k, top_k_backward},
};

use super::ROUNDING;
use crate::support::{Number, assert_close, device, devices, numbers};

const ALL: [Weights; 4] =
    [Weights::Softmax, Weights::SoftmaxOfChosen, Weights::Sigmoid, Weights::SigmoidOfChosen];

/// The weights of chosen experts, as the documentation says.
fn weights_of(rule: Weights, scores: &[f64], chosen: &[usize]) -> Vec<f64> {
    let of = |i: &usize| match rule {
        Weights::Softmax | Weights::SoftmaxOfChosen => scores[*i].exp(),
        Weights::Sigmoid | Weights::SigmoidOfChosen => 1.0 / (1.0 + (-scores[*i]).exp()),
    };
    let some: Vec<f64> = chosen.iter().map(of).collect();
    let sum = match rule {
        Weights::Softmax => scores.iter().map(|x| x.exp()).sum(),
        Weights::SoftmaxOfChosen | Weights::SigmoidOfChosen => some.iter().sum(),
        Weights::Sigmoid => 1.0,
    };
    some.into_iter().map(|x| x / sum).collect()
}

/// The experts with the greatest numbers, of equal ones the first.
fn greatest(by: &[f64], k: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..by.len()).collect();
    order.sort_by(|&a, &b| by[b].total_cmp(&by[a]));
    order.truncate(k);
    order
}

/// Of numbers below 16: `exp` and its argument are off by 16 roundings, then come a division, a product and a sum of up to 512, whose parts
/// are added in groups, 24 one after the other.
const OFF: f64 = 48.0 * ROUNDING;

fn chooses<T: Number + Real>([tokens, experts, k]: [usize; 3], biased: bool) -> Result<()> {
    // Distinct numbers of few bits, so that sums with the bias are apart by more than they are off.
    let scores: Vec<T> = numbers::<f32>(tokens * experts, 7)
        .into_iter()
        .map(|x| T::of((f64::from(x) * 64.0).round() / 16.0))
        .collect();
    let bias: Vec<f32> = (0..experts).map(|i| (i * 37 % 512) as f32 / 32.0).collect();
    for device in devices(TARGETS)? {
        let stream = device.stream()?;
        let on_device = stream.upload(&scores, [tokens, experts])?;
        let bias_there = stream.upload(&bias, [experts])?;
        for weights in ALL {
            let options = TopK { weights, scale: 2.5 };
            let mut out = stream.full([tokens, k], f32::NAN)?;
            let mut indices = stream.full([tokens, k], -9)?;
            let bias_there = biased.then_some(&bias_there as _);
            top_k(&stream, options, &on_device, bias_there, &mut out, &mut indices)?;
            let (mut required, mut required_indices) = (Vec::new(), Vec::new());
            for row in scores.chunks(experts) {
                let row: Vec<f64> = row.iter().map(|x| x.value()).collect();
                let rule = match weights {
                    Weights::Softmax | Weights::SoftmaxOfChosen => Weights::Softmax,
                    Weights::Sigmoid | Weights::SigmoidOfChosen => Weights::Sigmoid,
                };
                let all: Vec<usize> = (0..experts).collect();
                let by = if biased {
                    let weights = weights_of(rule, &row, &all);
                    weights.iter().zip(&bias).map(|(x, &bias)| x + f64::from(bias)).collect()
                } else {
                    row.clone()
                };
                let chosen = greatest(&by, k);
                let weights = weights_of(weights, &row, &chosen);
                required.extend(weights.into_iter().map(|x| (2.5 * x, 2.5 * OFF * x)));
                required_indices.extend(chosen.into_iter().map(|i| i as i32));
            }
            let what = format!("{weights:?}, {k} of {experts}");
            assert_eq!(indices.to_vec(&stream)?, required_indices, "{what}");
            assert_close(&what, k, &out.to_vec(&stream)?, &required);
        }
    }
    Ok(())
}

#[test]
fn the_greatest_scores_are_chosen_and_weighed() -> Result<()> {
    chooses::<bf16>([19, 8, 2], false)?;
    chooses::<bf16>([9, 128, 8], false)?;
    chooses::<f16>([3, 60, 6], false)?;
    chooses::<f32>([5, 256, 8], false)?;
    chooses::<f32>([3, 500, 13], false)?;
    chooses::<f32>([17, 1, 1], false)
}

#[test]
fn a_bias_changes_the_choice_but_not_the_weights() -> Result<()> {
    chooses::<f32>([3, 512, 16], true)?;
    chooses::<bf16>([3, 40, 3], true)
}

fn differentiates<T: Number + Real>([tokens, experts, k]: [usize; 3]) -> Result<()> {
    let least = if T::of(1e-20).value() > 0.0 { 0.0 } else { 1.0 / f64::from(1 << 25) };
    let (scores, grad) = (numbers::<T>(tokens * experts, 11), numbers::<f32>(tokens * k, 12));
    // Distinct experts, the last choice of the first token has none.
    let mut indices: Vec<i32> =
        (0..tokens * k).map(|i| ((i / k * 5 + i % k * 3) % experts) as i32).collect();
    indices[k - 1] = if k > 1 { -1 } else { indices[0] };
    for device in devices(TARGETS)? {
        let stream = device.stream()?;
        let scores_there = stream.upload(&scores, [tokens, experts])?;
        let indices_there = stream.upload(&indices, [tokens, k])?;
        let grad_there = stream.upload(&grad, [tokens, k])?;
        for weights in ALL {
            let mut out = stream.full([tokens, experts], T::of(f64::NAN))?;
            let options = TopK { weights, scale: 0.75 };
            top_k_backward(&stream, options, &scores_there, &indices_there, &grad_there, &mut out)?;
            let mut required = Vec::new();
            for token in 0..tokens {
                let row: Vec<f64> =
                    scores[token * experts..][..experts].iter().map(|x| x.value()).collect();
                let chosen: Vec<usize> = indices[token * k..][..k]
                    .iter()
                    .filter_map(|&index| usize::try_from(index).ok())
                    .collect();
                let loss = |row: &[f64]| -> f64 {
                    let weights = weights_of(weights, row, &chosen);
                    weights
                        .iter()
                        .zip(&grad[token * k..])
                        .map(|(w, &g)| 0.75 * w * f64::from(g))
                        .sum()
                };
                // Central differences of step h: h² / 6 of a third derivative below 8, and rounding below 1e-15 / h.
                let step = 1e-5;
                required.extend((0..experts).map(|i| {
                    let moved = |by: f64| {
                        let mut row = row.clone();
                        row[i] += by;
                        loss(&row)
                    };
                    let slope = (moved(step) - moved(-step)) / (2.0 * step);
                    // No term of the formula is above 1.
                    (slope, OFF + 2e-10 + least)
                }));
            }
            let what = format!("the gradient of {weights:?}, {k} of {experts}");
            assert_close(&what, experts, &out.to_vec(&stream)?, &required);
        }
    }
    Ok(())
}

#[test]
fn gradients_are_the_slopes_of_the_weights() -> Result<()> {
    differentiates::<f32>([9, 31, 4])?;
    differentiates::<f32>([3, 301, 16])?;
    differentiates::<bf16>([5, 128, 8])?;
    differentiates::<f16>([2, 7, 1])
}

#[test]
fn of_equal_scores_the_first_is_chosen_and_nan_counts_as_the_greatest() -> Result<()> {
    let stream = device(TARGETS)?.stream()?;
    let options = TopK { weights: Weights::SoftmaxOfChosen, scale: 1.0 };
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    for (scores, required) in [
        ([1.0, 3.0, 3.0, 1.0], [1, 2, 0]),
        ([0.0, -0.0, 0.0, -0.0], [0, 1, 2]),
        ([-inf, -inf, -inf, -inf], [0, 1, 2]),
        ([5.0, nan, inf, -nan], [1, 3, 2]),
        ([-inf, -1.0, -inf, -2.0], [1, 3, 0]),
    ] {
        let scores = stream.upload(&scores, [1, 4])?;
        let (mut weights, mut indices) = (stream.zeros([1, 3])?, stream.zeros([1, 3])?);
        top_k(&stream, options, &scores, None, &mut weights, &mut indices)?;
        assert_eq!(indices.to_vec(&stream)?, required);
    }
    Ok(())
}

#[test]
fn extents_that_do_not_fit_are_refused() -> Result<()> {
    let stream = device(TARGETS)?.stream()?;
    let of = |rows: usize, columns: usize| -> Result<DeviceTensor<f32, 2>> {
        stream.zeros([rows, columns])
    };
    let options = TopK { weights: Weights::Softmax, scale: 1.0 };
    for [rows, experts, k, weights] in
        [[3, 8, 9, 9], [3, 513, 2, 2], [4, 8, 2, 2], [3, 8, 2, 3], [3, 40, 17, 17]]
    {
        let (mut out, mut indices) = (of(3, weights)?, stream.zeros([3, k])?);
        let refused = top_k(&stream, options, &of(rows, experts)?, None, &mut out, &mut indices);
        assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
        let refused = top_k_backward(
            &stream,
            options,
            &of(rows, experts)?,
            &indices,
            &out,
            &mut of(rows, experts)?,
        );
        assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
    }
    let bias = stream.zeros::<f32, 1>([7])?;
    let (mut out, mut indices) = (of(3, 2)?, stream.zeros([3, 2])?);
    let refused = top_k(&stream, options, &of(3, 8)?, Some(&bias), &mut out, &mut indices);
    assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
    Ok(())
}
