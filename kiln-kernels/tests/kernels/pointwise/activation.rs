//! Activations and gates, and their derivatives.

use half::{bf16, f16};
use kiln::prelude::{DeviceTensor, Error, Result, Stream};
use kiln_kernels::{
    Activation, Real,
    pointwise::{self, activate, activate_backward, gate, gate_backward, gate_backward_packed},
};

use super::{roundings, subnormal};
use crate::support::{Number, assert_close, devices, numbers};

const ALL: [Activation; 5] = [
    Activation::Relu,
    Activation::Silu,
    Activation::Gelu,
    Activation::GeluTanh,
    Activation::ReluSquared,
];

const CUBIC: f64 = 0.044_715;

/// √(2 / π).
fn root() -> f64 {
    std::f64::consts::FRAC_2_PI.sqrt()
}

/// The error function, by its series or a continued fraction: both to 1e-15.
fn erf(x: f64) -> f64 {
    let square = x * x;
    let of_positive = if square < 6.0 {
        let mut term = x.abs();
        let mut sum = term;
        for n in 1..80 {
            term *= -square / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        sum * std::f64::consts::FRAC_2_SQRT_PI
    } else {
        let fraction = (1..80).rev().fold(x.abs(), |below, n| x.abs() + f64::from(n) / 2.0 / below);
        1.0 - (-square).exp() / (fraction * std::f64::consts::PI.sqrt())
    };
    of_positive.copysign(x)
}

/// The normal density.
fn density(x: f64) -> f64 {
    (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

/// The roundings of an exponential: 2 units in the last place, which are four, and for types of 16 bits 1.25 units more for each 1 of `x`.
fn of_exp<T: Number>(x: f64) -> f64 {
    if T::BYTES == 4 { 4.0 } else { 4.0 + 2.5 * x.abs() }
}

/// A sigmoid, and its roundings if `x` has some itself: those of the exponential by its slope, a sum, and a reciprocal, which has one or,
/// for types of 16 bits, is a square of roots with a relative error of 2^-22.9.
fn sigmoid<T: Number>(x: f64, of_x: f64) -> (f64, f64) {
    let value = 1.0 / (1.0 + (-x).exp());
    let of_recip = if T::BYTES == 4 { 1.0 } else { 6.0 };
    (value, (1.0 - value) * (of_exp::<T>(x) + of_x * x.abs()) + 1.0 + of_recip)
}

/// What the approximation by `tanh` takes twice `tanh` of, with seven roundings, and its slope.
fn inner(x: f64) -> (f64, f64) {
    (root() * 2.0 * x * (1.0 + CUBIC * x * x), root() * 2.0 * (1.0 + 3.0 * CUBIC * x * x))
}

/// An activation, and how far it may be off.
fn value<T: Number>(activation: Activation, x: f64) -> (f64, f64) {
    match activation {
        Activation::Silu => {
            let (s, of_s) = sigmoid::<T>(x, 0.0);
            (x * s, (of_s + 1.0) * roundings(1) * (x * s).abs())
        }
        // √(1/2), a product (by the slope of erf at most 0.49 of these two), erf itself, which has four, a sum of up to 2, and two
        // products.
        Activation::Gelu => (0.5 * x * (1.0 + erf(x / 2f64.sqrt())), roundings(5) * x.abs()),
        Activation::GeluTanh => {
            let (s, of_s) = sigmoid::<T>(inner(x).0, 7.0);
            (x * s, (of_s + 1.0) * roundings(1) * (x * s).abs())
        }
        Activation::Relu => (x.max(0.0), 0.0),
        Activation::ReluSquared => (x.max(0.0).powi(2), roundings(1) * x * x),
    }
}

/// The derivative of an activation, and how far it may be off.
fn slope<T: Number>(activation: Activation, x: f64) -> (f64, f64) {
    // `s (1 + x (1 - s) by)` for an `x by` with some roundings: `1 - s` is off by what `s` is and one rounding, the product by two more
    // and the sum by one.
    let of_sigmoid = |(s, of_s): (f64, f64), by: f64, of_by: f64| {
        let (term, size) = (x * (1.0 - s) * by, (x * by).abs());
        let off = size * (of_s * s + 1.0) + term.abs() * (of_by + 2.0) + 1.0 + term.abs();
        (s * (1.0 + term), roundings(1) * s * (off + (of_s + 1.0) * (1.0 + term.abs())))
    };
    match activation {
        Activation::Silu => of_sigmoid(sigmoid::<T>(x, 0.0), 1.0, 0.0),
        // As the value, and at most 0.24 of what the density has: two products, the exponential, and the roundings of its exponent.
        Activation::Gelu => {
            let of_density = 4.0 + of_exp::<T>(x * x / 2.0) + x * x / 2.0;
            let term = x * density(x);
            (
                0.5 * (1.0 + erf(x / 2f64.sqrt())) + term,
                roundings(1) * (5.0 + of_density * term.abs() + 1.2),
            )
        }
        Activation::GeluTanh => {
            let (u, by) = inner(x);
            of_sigmoid(sigmoid::<T>(u, 7.0), by, 7.0)
        }
        Activation::Relu => (f64::from(u8::from(x > 0.0)), 0.0),
        Activation::ReluSquared => (2.0 * x.max(0.0), 0.0),
    }
}

/// A product with factors that are exact, each of which rounds once.
fn times((value, off): (f64, f64), factors: &[f64]) -> (f64, f64) {
    factors.iter().fold((value, off), |(value, off), factor| {
        let product = value * factor;
        (product, off * factor.abs() * (1.0 + roundings(1)) + roundings(1) * product.abs())
    })
}

/// Host and device values of one shape: what is activated, the other factor, and the gradient.
struct Case<T> {
    stream: Stream,
    shape: [usize; 2],
    host: [Vec<T>; 3],
    on_device: [DeviceTensor<T, 2>; 3],
}

impl<T: Number + Real> Case<T> {
    fn new(stream: Stream, shape @ [rows, columns]: [usize; 2]) -> Result<Case<T>> {
        let host = [1, 2, 3].map(|seed| {
            // From -8 to 8, where functions bend and where they are flat.
            let scale = if seed == 1 { 8.0 } else { 1.0 };
            let numbers = numbers::<f32>(rows * columns, seed);
            numbers.into_iter().map(|x| T::of(scale * f64::from(x))).collect::<Vec<T>>()
        });
        let upload = |host: &[T]| stream.upload(host, shape);
        let on_device = [upload(&host[0])?, upload(&host[1])?, upload(&host[2])?];
        Ok(Case { stream, shape, host, on_device })
    }

    fn unwritten(&self) -> Result<DeviceTensor<T, 2>> {
        self.stream.full(self.shape, T::of(f64::NAN))
    }

    /// What is required at each place, of the three numbers there.
    fn required(&self, of: impl Fn(f64, f64, f64) -> (f64, f64)) -> Vec<(f64, f64)> {
        let [x, up, grad] = &self.host;
        let places = x.iter().zip(up).zip(grad);
        let of = |((x, up), grad): ((&T, &T), &T)| of(x.value(), up.value(), grad.value());
        places.map(of).map(|(value, off)| (value, off + subnormal::<T>())).collect()
    }

    fn check(
        &self,
        what: &str,
        actual: &DeviceTensor<T, 2>,
        required: &[(f64, f64)],
    ) -> Result<()> {
        assert_close(what, self.shape[1], &actual.to_vec(&self.stream)?, required);
        Ok(())
    }

    fn all_of(&self, activation: Activation) -> Result<()> {
        let (stream, what) = (&self.stream, format!("{activation:?} of {:?}", self.shape));
        let [x, up, grad] = &self.on_device;
        let mut out = self.unwritten()?;
        activate(stream, activation, x, &mut out)?;
        self.check(&what, &out, &self.required(|x, _, _| value::<T>(activation, x)))?;
        let mut out = self.unwritten()?;
        gate(stream, activation, x, up, &mut out)?;
        self.check(
            &what,
            &out,
            &self.required(|x, up, _| times(value::<T>(activation, x), &[up])),
        )?;
        let mut out = self.unwritten()?;
        activate_backward(stream, activation, x, grad, &mut out)?;
        let required = self.required(|x, _, grad| times(slope::<T>(activation, x), &[grad]));
        self.check(&what, &out, &required)?;

        let of_x = self.required(|x, up, grad| times(slope::<T>(activation, x), &[up, grad]));
        let of_up = self.required(|x, _, grad| times(value::<T>(activation, x), &[grad]));
        let (mut grad_x, mut grad_up) = (self.unwritten()?, self.unwritten()?);
        gate_backward(stream, activation, [x, up], grad, &mut grad_x, &mut grad_up)?;
        self.check(&what, &grad_x, &of_x)?;
        self.check(&what, &grad_up, &of_up)?;

        let [rows, columns] = self.shape;
        let rows_of = |host: &[T], row: usize| host[row * columns..][..columns].to_vec();
        let both: Vec<T> = (0..rows)
            .flat_map(|row| [rows_of(&self.host[0], row), rows_of(&self.host[1], row)].concat())
            .collect();
        let both = stream.upload(&both, [rows, 2, columns])?;
        let mut grads = stream.full([rows, 2, columns], T::of(f64::NAN))?;
        gate_backward_packed(stream, activation, &both, grad, &mut grads)?;
        let grads = grads.to_vec(stream)?;
        for (at, required) in [of_x, of_up].iter().enumerate() {
            let actual: Vec<T> = (0..rows).flat_map(|row| rows_of(&grads, 2 * row + at)).collect();
            assert_close(&what, columns, &actual, required);
        }
        Ok(())
    }
}

fn activates<T: Number + Real>(shapes: &[[usize; 2]]) -> Result<()> {
    for device in devices(pointwise::TARGETS)? {
        for &shape in shapes {
            let case = Case::<T>::new(device.stream()?, shape)?;
            ALL.into_iter().try_for_each(|activation| case.all_of(activation))?;
        }
    }
    Ok(())
}

#[test]
fn tensors_of_any_extents_are_activated() -> Result<()> {
    activates::<bf16>(&[[3, 520], [17, 136], [2, 1], [0, 8], [8, 0]])?;
    activates::<f16>(&[[1, 2056], [5, 131]])?;
    activates::<f32>(&[[2, 1025], [33, 4]])
}

#[test]
fn slopes_are_those_of_the_values() {
    // The reference itself, by central differences in f64: off by a sixth of the third derivative times the square of the step, and by
    // the rounding of values over the step.
    let step = 1e-4;
    for activation in ALL {
        for x in (-60..=60).map(|x| f64::from(x) / 10.0 + 0.033) {
            let of = |x| value::<f32>(activation, x).0;
            let difference = (of(x + step) - of(x - step)) / (2.0 * step);
            let actual = slope::<f32>(activation, x).0;
            assert!((difference - actual).abs() < 1e-7, "{activation:?} at {x}: {actual}");
        }
    }
}

#[test]
fn halves_of_columns_are_gates_and_factors() -> Result<()> {
    for device in devices(pointwise::TARGETS)? {
        let (stream, n) = (device.stream()?, 72);
        let host = numbers::<bf16>(3 * 2 * n, 4);
        let both = stream.upload(&host, [3, 2 * n])?;
        let mut out = stream.full([3, n], bf16::NAN)?;
        let (left, right) = (both.slice(1, 0..n)?, both.slice(1, n..2 * n)?);
        gate(&stream, Activation::Silu, &left, &right, &mut out)?;
        let required: Vec<_> = host
            .chunks(2 * n)
            .flat_map(|row| (0..n).map(|i| (row[i].value(), row[n + i].value())))
            .map(|(x, up)| times(value::<bf16>(Activation::Silu, x), &[up]))
            .collect();
        assert_close("halves", n, &out.to_vec(&stream)?, &required);
    }
    Ok(())
}

#[test]
fn nan_infinities_and_large_numbers_are_those_of_the_formulas() -> Result<()> {
    for device in devices(pointwise::TARGETS)? {
        let stream = device.stream()?;
        let host = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30, -1e30, -0.0];
        let x = stream.upload(&host, [1, 6])?;
        let ones = stream.full([1, 6], 1.0f32)?;
        for activation in ALL {
            let (mut out, mut grad) = (stream.zeros([1, 6])?, stream.zeros([1, 6])?);
            activate(&stream, activation, &x, &mut out)?;
            activate_backward(&stream, activation, &x, &ones, &mut grad)?;
            let (out, grad) = (out.to_vec(&stream)?, grad.to_vec(&stream)?);
            let squared = activation == Activation::ReluSquared;
            let cut = squared || activation == Activation::Relu;
            let what = format!("{activation:?}: {out:?}, {grad:?}");
            assert!(out[0].is_nan() && grad[0].is_nan(), "{what}");
            assert!(out[1] == f32::INFINITY, "{what}");
            // 0 times infinity, as in PyTorch.
            assert!(if cut { out[2] == 0.0 } else { out[2].is_nan() }, "{what}");
            assert!(if squared { out[3] == f32::INFINITY } else { out[3] == 1e30 }, "{what}");
            assert!(out[4] == 0.0 && out[5] == 0.0, "{what}");
            assert!(if squared { grad[3] == 2e30 } else { grad[3] == 1.0 }, "{what}");
            assert!(grad[4] == 0.0, "{what}");
            assert!(if cut { grad[5] == 0.0 } else { grad[5] == 0.5 }, "{what}");
        }
    }
    Ok(())
}

#[test]
fn extents_that_differ_are_refused() -> Result<()> {
    let stream = crate::support::device(pointwise::TARGETS)?.stream()?;
    let of = |rows: usize, columns: usize| stream.zeros::<f32, 2>([rows, columns]);
    let (x, mut out, mut more) = (of(3, 16)?, of(3, 17)?, of(3, 16)?);
    let act = Activation::Silu;
    for refused in [
        activate(&stream, act, &x, &mut out),
        activate_backward(&stream, act, &x, &x, &mut out),
        activate_backward(&stream, act, &x, &of(4, 16)?, &mut more),
        gate(&stream, act, &x, &of(3, 8)?, &mut more),
        gate_backward(&stream, act, [&x, &x], &x, &mut more, &mut out),
        gate_backward_packed(
            &stream,
            act,
            &stream.zeros::<f32, 3>([3, 2, 16])?,
            &x,
            &mut stream.zeros::<f32, 3>([3, 1, 16])?,
        ),
    ] {
        assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
    }
    Ok(())
}
