//! Ops in candle's graph: any number of inputs, gradients that are not there, graphs that several threads go through.

use candle_core::{DType, Device, Result, Tensor, Var};
use kernels::{add_square, add_square_gradient};
use kiln::Target;
use kiln_candle::{Arg, Backward, Call, Error, Forward, Op, Value, cause, run};

mod kernels {
    use kiln::prelude::*;

    /// out += factor · x²
    #[kernel(target = sm_80, warps = 1, grid = cdiv(out.dim(0), 32))]
    pub(super) fn add_square(factor: f32, x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
        let at = [block_id(0) * 32];
        let v = x.tile(at, [32]).load();
        out.tile(at, [32]).store(out.tile(at, [32]).load() + v * v * factor);
    }

    /// dx = 2 · factor · x · g
    #[kernel(target = sm_80, warps = 1, grid = cdiv(dx.dim(0), 32))]
    pub(super) fn add_square_gradient(
        factor: f32,
        x: Tensor<f32, 1>,
        g: Tensor<f32, 1>,
        dx: TensorMut<f32, 1>,
    ) {
        let at = [block_id(0) * 32];
        dx.tile(at, [32]).store(x.tile(at, [32]).load() * g.tile(at, [32]).load() * (2.0 * factor));
    }
}

/// Where the tests run: on the GPU with the feature `cuda`, all threads of a test on one stream.
fn device() -> Result<Device> {
    if cfg!(feature = "cuda") { Device::new_cuda_with_stream(0) } else { Ok(Device::Cpu) }
}

/// Σ factor · x² over the inputs, with the factors 1, 2, 3, ..
#[derive(Clone, Copy)]
struct Squares;

/// The factor of an input.
fn factor(input: usize) -> f32 {
    (1..).zip(0..=input).fold(0.0, |_, (factor, _): (u8, _)| f32::from(factor))
}

impl<const N: usize> Op<N> for Squares {
    const NAME: &'static str = "squares";
    const TARGETS: &'static [Target] = add_square::TARGETS;

    fn forward(&self, call: &Call, inputs: [Arg<'_>; N]) -> kiln_candle::Result<Forward> {
        let mut out = call.zeros([inputs[0].dims()[0]])?;
        for (number, input) in inputs.iter().enumerate() {
            let x = input.view::<f32, 1>()?;
            add_square(add_square::Args { factor: factor(number), x: &x, out: &mut out })
                .launch(call.stream())?;
        }
        Ok(out.finish(inputs[0].shape())?.into())
    }

    fn backward(&self, step: &Backward<'_, N>) -> kiln_candle::Result<[Option<Tensor>; N]> {
        let mut gradients = [const { None }; N];
        for (number, input) in step.inputs.into_iter().enumerate() {
            let gradient = run(
                "squares, backward",
                add_square_gradient::TARGETS,
                [input, step.gradient],
                |call, [x, g]| {
                    let (view, g) = (x.view::<f32, 1>()?, g.view::<f32, 1>()?);
                    let mut dx = call.empty(view.shape())?;
                    let args = add_square_gradient::Args {
                        factor: factor(number),
                        x: &view,
                        g: &g,
                        dx: &mut dx,
                    };
                    add_square_gradient(args).launch(call.stream())?;
                    dx.finish(x.shape())
                },
            )?;
            gradients[number] = Some(gradient);
        }
        Ok(gradients)
    }
}

/// Elements of input `number`: small whole numbers, so that nothing is rounded.
fn elements(number: usize) -> Vec<f32> {
    (0..40u8).map(|i| f32::from(i % 7) - 3.0).skip(number).take(30).collect()
}

/// The sum and its gradients, for the weights 1, 2, 3, .. of the elements of the output.
fn required(count: usize) -> (Vec<f32>, Vec<Vec<f32>>) {
    let sum = |i: usize| (0..count).map(|n| factor(n) * elements(n)[i] * elements(n)[i]).sum();
    let gradient =
        |n: usize| (0..30).map(move |i| 2.0 * factor(n) * elements(n)[i] * factor(i)).collect();
    ((0..30).map(sum).collect(), (0..count).map(gradient).collect())
}

fn sums_have_gradients<const N: usize>() -> Result<()> {
    let device = device()?;
    let variables: Vec<Var> =
        (0..N).map(|n| Var::from_vec(elements(n), 30, &device)).collect::<Result<_>>()?;
    let inputs: [&Tensor; N] = std::array::from_fn(|n| variables[n].as_tensor());
    let output = Squares.apply(inputs)?;
    let (sums, gradients) = required(N);
    assert_eq!(output.to_vec1::<f32>()?, sums, "of {N} inputs");
    let weights = Tensor::from_vec((0..30).map(factor).collect::<Vec<_>>(), 30, &device)?;
    let loss = output.mul(&weights)?.sum_all()?;
    // A graph can be gone through again.
    for _ in 0..2 {
        let actual = loss.backward()?;
        for (number, (variable, required)) in variables.iter().zip(&gradients).enumerate() {
            let gradient = actual.get(variable).expect("each input has one");
            assert_eq!(gradient.to_vec1::<f32>()?, *required, "input {number} of {N}");
        }
    }
    Ok(())
}

#[test]
fn ops_have_any_number_of_inputs() -> Result<()> {
    sums_have_gradients::<1>()?;
    sums_have_gradients::<2>()?;
    sums_have_gradients::<3>()?;
    // candle has no place for these.
    sums_have_gradients::<4>()?;
    sums_have_gradients::<5>()?;
    sums_have_gradients::<6>()?;
    sums_have_gradients::<9>()
}

#[test]
fn some_of_many_inputs_have_gradients() -> Result<()> {
    let device = device()?;
    let tensor = |n| Tensor::from_vec(elements(n), 30, &device);
    let variable = Var::from_vec(elements(4), 30, &device)?;
    // Through an operation of candle's, and by itself.
    let twice = (variable.as_tensor() * 2.0)?;
    let inputs = [&tensor(0)?, &tensor(1)?, &tensor(2)?, &twice, variable.as_tensor(), &tensor(5)?];
    let gradients = Squares.apply(inputs)?.sum_all()?.backward()?;
    let actual = gradients.get(&variable).expect("it is two of the inputs").to_vec1::<f32>()?;
    // d/dx of 4 · (2x)² + 5 · x²
    let required: Vec<f32> = elements(4).iter().map(|x| 32.0 * x + 10.0 * x).collect();
    assert_eq!(actual, required);

    let variable = Var::from_vec(elements(0), 30, &device)?;
    let inputs = [variable.as_tensor(), &tensor(1)?, &tensor(2)?, &tensor(3)?, &tensor(4)?];
    let gradients = Squares.apply(inputs)?.sum_all()?.backward()?;
    let actual = gradients.get(&variable).expect("it is the first input").to_vec1::<f32>()?;
    assert_eq!(actual, elements(0).iter().map(|x| 2.0 * x).collect::<Vec<_>>());
    Ok(())
}

#[test]
fn threads_go_through_one_graph() -> Result<()> {
    let device = device()?;
    let variables: Vec<Var> =
        (0..5).map(|n| Var::from_vec(elements(n), 30, &device)).collect::<Result<_>>()?;
    let inputs: [&Tensor; 5] = std::array::from_fn(|n| variables[n].as_tensor());
    let output = Squares.apply(inputs)?;
    // Each thread has a loss of its own over the same output.
    std::thread::scope(|scope| {
        let threads: Vec<_> = (1..=4u8)
            .map(|thread| {
                let (output, variables) = (&output, &variables);
                scope.spawn(move || -> Result<()> {
                    for _ in 0..8 {
                        let loss = (output * f64::from(thread))?.sum_all()?;
                        let gradients = loss.backward()?;
                        for (number, variable) in variables.iter().enumerate() {
                            let actual = gradients.get(variable).expect("each input has one");
                            let times = 2.0 * factor(number) * f32::from(thread);
                            let required: Vec<f32> =
                                elements(number).iter().map(|x| x * times).collect();
                            assert_eq!(actual.to_vec1::<f32>()?, required);
                        }
                    }
                    Ok(())
                })
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("it does not panic"))
    })
}

/// The first input squared; the second has no gradient.
struct First;

impl Op<2> for First {
    const NAME: &'static str = "first";
    const TARGETS: &'static [Target] = add_square::TARGETS;

    fn forward(&self, call: &Call, [x, _]: [Arg<'_>; 2]) -> kiln_candle::Result<Forward> {
        Op::<1>::forward(&Squares, call, [x])
    }

    fn backward(&self, step: &Backward<'_, 2>) -> kiln_candle::Result<[Option<Tensor>; 2]> {
        let [x, _] = step.inputs;
        Ok([Some(((x * 2.0)? * step.gradient)?), None])
    }
}

#[test]
fn an_input_without_a_gradient_stops_nothing() -> Result<()> {
    let device = device()?;
    let (x, y) =
        (Var::from_vec(elements(0), 30, &device)?, Var::from_vec(elements(1), 30, &device)?);
    // candle goes on from an input that is no variable, and relies on a gradient there.
    let between = (y.as_tensor() + 1.0)?;
    let gradients = First.apply([x.as_tensor(), &between])?.sum_all()?.backward()?;
    let actual = gradients.get(&x).expect("x has one").to_vec1::<f32>()?;
    assert_eq!(actual, elements(0).iter().map(|x| 2.0 * x).collect::<Vec<_>>());
    let none = gradients.get(&y).expect("candle went on").to_vec1::<f32>()?;
    assert_eq!(none, [0.0; 30]);
    Ok(())
}

/// Saves some tensors, and asks for others.
struct Saving {
    saved: usize,
}

impl Op<1> for Saving {
    const NAME: &'static str = "saving";
    const TARGETS: &'static [Target] = add_square::TARGETS;

    fn forward(&self, call: &Call, [x]: [Arg<'_>; 1]) -> kiln_candle::Result<Forward> {
        let value = |number| -> kiln_candle::Result<Value> {
            call.full([x.dims()[0]], factor(number))?.finish(x.shape())
        };
        let saved = (0..self.saved).map(value).collect::<kiln_candle::Result<Vec<_>>>()?;
        Ok(Forward::saving(value(9)?, saved))
    }

    fn backward(&self, step: &Backward<'_, 1>) -> kiln_candle::Result<[Option<Tensor>; 1]> {
        let [first, second] = step.saved()?;
        Ok([Some(((first + (second * 10.0)?)? * step.gradient)?)])
    }
}

#[test]
fn what_is_saved_reaches_the_backward_step() -> Result<()> {
    let x = Var::from_vec(elements(0), 30, &device()?)?;
    // Two applications of one type of op keep what is their own.
    let output = (Saving { saved: 2 }.apply([x.as_tensor()])?
        + Saving { saved: 2 }.apply([x.as_tensor()])?)?;
    assert_eq!(output.to_vec1::<f32>()?, [20.0; 30]);
    let gradient = output.sum_all()?.backward()?.get(&x).expect("x has one").to_vec1::<f32>()?;
    assert_eq!(gradient, [42.0; 30]);

    let error = Saving { saved: 1 }.apply([x.as_tensor()])?.sum_all()?.backward().map(drop);
    let error = error.expect_err("it asks for two");
    assert!(matches!(cause(&error), Some(Error::Saved { required: 2, actual: 1, .. })), "{error}");
    Ok(())
}

/// Has no gradient.
struct Forwards;

impl Op<1> for Forwards {
    const NAME: &'static str = "forwards";
    const TARGETS: &'static [Target] = add_square::TARGETS;

    fn forward(&self, call: &Call, [x]: [Arg<'_>; 1]) -> kiln_candle::Result<Forward> {
        Ok(call.zeros::<f32, 1>([x.dims()[0]])?.finish(x.shape())?.into())
    }
}

#[test]
fn an_op_without_a_backward_step_says_so() -> Result<()> {
    let x = Var::from_vec(elements(0), 30, &device()?)?;
    let error = Forwards.apply([x.as_tensor()])?.sum_all()?.backward().map(drop);
    let error = error.expect_err("there is none").to_string();
    assert!(error.starts_with("backward is not supported for forwards"), "{error}");
    Ok(())
}

#[test]
fn an_error_of_a_forward_step_is_found_again() -> Result<()> {
    let x = Tensor::zeros((2, 3), DType::F32, &device()?)?;
    let error = Squares.apply([&x, &x, &x, &x]).expect_err("the kernel takes one axis");
    assert!(
        matches!(cause(&error), Some(Error::Rank { op: "squares", required: 1, .. })),
        "{error}"
    );
    Ok(())
}

#[cfg(feature = "cuda")]
#[test]
fn inputs_on_two_devices_are_refused() -> Result<()> {
    let (here, there) =
        (Tensor::zeros(30, DType::F32, &Device::Cpu)?, Tensor::zeros(30, DType::F32, &device()?)?);
    let error = Squares.apply([&here, &there]).expect_err("candle compares them").to_string();
    assert!(error.starts_with("device mismatch in squares"), "{error}");
    // Those that candle does not know of are compared by the op.
    let error =
        Squares.apply([&there, &there, &here, &here]).expect_err("two of them are elsewhere");
    assert!(error.to_string().contains("squares"), "{error}");
    Ok(())
}
