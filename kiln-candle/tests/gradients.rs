//! The example's ops against candle's own operations, forward and backward, computed in f64.

#[path = "../examples/transformer/attention.rs"]
mod attention;
#[path = "../examples/transformer/model.rs"]
#[expect(dead_code, reason = "the tests take the two operations, not the model")]
mod model;
#[path = "../examples/transformer/rms_norm.rs"]
mod rms_norm;

use candle_core::{DType, Device, Result, Tensor, Var};
use kiln_candle::Op;
use model::By;

/// Numbers between -1 and 1 that bf16 has, the same in every run.
fn numbers(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        // 8 bits of fraction at most.
        f64::from(u32::try_from(state >> 33 & 0xff).expect("8 bits")) / 128.0 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

fn tensor(shape: &[usize], seed: u64, dtype: DType) -> Result<Tensor> {
    let values = numbers(shape.iter().product(), seed);
    Tensor::from_vec(values, shape, &device()?)?.to_dtype(dtype)
}

/// Where the tests run: on the GPU with the feature `cuda`.
fn device() -> Result<Device> {
    if cfg!(feature = "cuda") { Device::new_cuda(0) } else { Ok(Device::Cpu) }
}

/// The output of a function and the gradients of its inputs, given the gradient of the output.
fn output_and_gradients<const N: usize>(
    inputs: [&Tensor; N],
    weights: &Tensor,
    function: impl Fn([&Tensor; N]) -> Result<Tensor>,
) -> Result<Vec<Tensor>> {
    let mut variables = Vec::new();
    for input in inputs {
        variables.push(Var::from_tensor(input)?);
    }
    let tensors: Vec<&Tensor> = variables.iter().map(Var::as_tensor).collect();
    let output = function(tensors.try_into().expect("there are N of them"))?;
    let gradients = output.mul(weights)?.sum_all()?.backward()?;
    let mut all = vec![output];
    for variable in &variables {
        all.push(gradients.get(variable).expect("each input has a gradient").clone());
    }
    Ok(all)
}

/// Compares results with those in f64, to within `tolerance` times the largest element.
fn assert_close(actual: &[Tensor], required: &[Tensor], tolerance: f64) -> Result<()> {
    assert_eq!(actual.len(), required.len());
    for (index, (actual, required)) in actual.iter().zip(required).enumerate() {
        assert_eq!(actual.dims(), required.dims(), "of tensor {index}");
        let values = |tensor: &Tensor| -> Result<Vec<f64>> {
            tensor.to_dtype(DType::F64)?.flatten_all()?.to_vec1()
        };
        let (actual, required) = (values(actual)?, values(required)?);
        let largest = required.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        assert!(largest > 0.0, "tensor {index} is all zeros");
        for (at, (actual, required)) in actual.iter().zip(&required).enumerate() {
            let error = (actual - required).abs() / largest;
            assert!(
                error <= tolerance,
                "element {at} of tensor {index}: {actual}, and {required} is right; {error} of the largest one"
            );
        }
    }
    Ok(())
}

/// Sums of a few hundred terms in f32, of the exponential's approximation by two units in the last place.
const IN_F32: f64 = 2e-6;
/// 8 bits of fraction, in what goes into a second product as well as in the result.
const IN_BF16: f64 = 1.0 / 128.0;
/// 11 bits of fraction.
const IN_F16: f64 = 1.0 / 1024.0;

fn norms_agree(shape: &[usize], dtype: DType, tolerance: f64) -> Result<()> {
    let width = shape[shape.len() - 1];
    let (x, weight) = (tensor(shape, 1, dtype)?, tensor(&[width], 2, dtype)?);
    let weights = tensor(shape, 3, dtype)?;
    let run = |by, dtype| {
        let inputs = [&x.to_dtype(dtype)?, &weight.to_dtype(dtype)?];
        output_and_gradients(inputs, &weights.to_dtype(dtype)?, |[x, weight]| {
            model::rms_norm(by, x, weight, 1e-5)
        })
    };
    assert_close(&run(By::Kiln, dtype)?, &run(By::Candle, DType::F64)?, tolerance)
}

#[test]
fn rms_norm_has_the_gradients_of_its_formula() -> Result<()> {
    norms_agree(&[3, 40], DType::F32, IN_F32)?;
    // More than one tile of columns, and of rows.
    norms_agree(&[2, 9, 1100], DType::F32, IN_F32)
}

#[test]
fn rms_norm_of_halves_is_rounded_once() -> Result<()> {
    norms_agree(&[4, 72], DType::BF16, IN_BF16)?;
    norms_agree(&[4, 72], DType::F16, IN_F16)
}

fn attention_agrees(
    [queries, keys]: [usize; 2],
    head: usize,
    causal: bool,
    dtype: DType,
    tolerance: f64,
) -> Result<()> {
    let shape = |sequence| [2, 3, sequence, head];
    let (q, k) = (tensor(&shape(queries), 4, dtype)?, tensor(&shape(keys), 5, dtype)?);
    let (v, weights) = (tensor(&shape(keys), 6, dtype)?, tensor(&shape(queries), 7, dtype)?);
    let run = |by, dtype| {
        let inputs = [&q.to_dtype(dtype)?, &k.to_dtype(dtype)?, &v.to_dtype(dtype)?];
        output_and_gradients(inputs, &weights.to_dtype(dtype)?, |[q, k, v]| {
            model::attention(by, q, k, v, causal)
        })
    };
    assert_close(&run(By::Kiln, dtype)?, &run(By::Candle, DType::F64)?, tolerance)
}

#[test]
fn attention_has_the_gradients_of_its_formula() -> Result<()> {
    attention_agrees([32, 32], 32, false, DType::F32, IN_F32)?;
    attention_agrees([50, 50], 32, true, DType::F32, IN_F32)?;
    // Neither sequence is a multiple of a tile's, nor is the head.
    attention_agrees([33, 70], 48, false, DType::F32, IN_F32)
}

#[test]
fn attention_of_bf16_rounds_weights_and_results() -> Result<()> {
    attention_agrees([40, 40], 64, true, DType::BF16, IN_BF16)
}

#[test]
fn a_norm_of_transposed_rows_and_a_broadcast_gradient() -> Result<()> {
    let x = Var::from_tensor(&tensor(&[24, 6], 8, DType::F32)?)?;
    let weight = tensor(&[24], 9, DType::F32)?;
    let gradient = |by| -> Result<Tensor> {
        // The rows of the transposed matrix are its columns, and of a mean all elements have one gradient.
        let mean = model::rms_norm(by, &x.t()?, &weight, 1e-5)?.mean_all()?;
        Ok(mean.backward()?.get(&x).expect("x is a variable").clone())
    };
    assert_close(&[gradient(By::Kiln)?], &[gradient(By::Candle)?], IN_F32)
}

#[test]
fn attention_takes_heads_as_a_model_has_them() -> Result<()> {
    // [batch, sequence, 3, heads, head]: queries, keys and values are views of it, none contiguous.
    let qkv = Var::from_tensor(&tensor(&[2, 20, 3, 4, 16], 10, DType::F32)?)?;
    let weights = tensor(&[2, 4, 20, 16], 11, DType::F32)?;
    let gradient = |by| -> Result<Tensor> {
        let part = |i| qkv.narrow(2, i, 1)?.squeeze(2)?.transpose(1, 2);
        let [q, k, v] = [part(0)?, part(1)?, part(2)?];
        assert!(!q.is_contiguous());
        let loss = model::attention(by, &q, &k, &v, true)?.mul(&weights)?.sum_all()?;
        Ok(loss.backward()?.get(&qkv).expect("it is a variable").clone())
    };
    assert_close(&[gradient(By::Kiln)?], &[gradient(By::Candle)?], IN_F32)
}

#[test]
fn without_variables_nothing_is_kept() -> Result<()> {
    let (x, weight) = (tensor(&[2, 8], 12, DType::F32)?, tensor(&[8], 13, DType::F32)?);
    let y = rms_norm::RmsNorm { eps: 1e-5 }.apply([&x, &weight])?;
    assert!(!y.track_op());
    Ok(())
}

#[test]
fn misfits_are_named() -> Result<()> {
    let (x, weight) = (tensor(&[2, 8], 14, DType::F32)?, tensor(&[7], 15, DType::F32)?);
    let refused = rms_norm::RmsNorm { eps: 1e-5 }.apply([&x, &weight]).expect_err("7 is not 8");
    assert_eq!(first_line(&refused), "rms-norm: rows of 8 elements, and a weight of 7");
    let q = tensor(&[1, 2, 4, 80], 16, DType::F32)?;
    let refused =
        attention::Attention { scale: 1.0, causal: false }.apply([&q, &q, &q]).expect_err("80");
    let text = first_line(&refused);
    assert!(text.starts_with("attention: queries [1, 2, 4, 80], keys [1, 2, 4, 80], "), "{text}");
    Ok(())
}

/// The message alone: with `RUST_BACKTRACE`, candle's errors have a backtrace behind it.
fn first_line(error: &candle_core::Error) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}
