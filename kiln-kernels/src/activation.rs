//! Activation functions and their slopes.

use kiln::prelude::*;

/// An activation function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// `x / (1 + exp(-x))`, also called Swish.
    Silu,
    /// `x` times the probability that a normal variable is below `x`, by the error function.
    Gelu,
    /// The approximation of [`Gelu`](Activation::Gelu) by `tanh`.
    GeluTanh,
    /// The positive part of `x`.
    Relu,
    /// The square of the positive part of `x`.
    ReluSquared,
}

/// How kernels are told of an activation at run time: -1 for none.
#[cfg(any(feature = "grouped", feature = "matmul"))]
pub(crate) fn number_of(activation: Option<Activation>) -> i32 {
    activation.map_or(-1, |activation| activation as i32)
}

/// The functions, which kernels choose by the number of an [`Activation`].
#[device]
pub(crate) mod functions {
    use kiln::prelude::*;

    pub(crate) const SILU: i32 = 0;
    pub(crate) const GELU: i32 = 1;
    pub(crate) const GELU_TANH: i32 = 2;
    pub(crate) const RELU: i32 = 3;
    pub(crate) const RELU_SQUARED: i32 = 4;

    /// √(2 / π).
    const ROOT: f32 = 0.797_884_6;
    /// √(1 / 2).
    const ROOT_HALF: f32 = 0.707_106_77;
    /// 1 / √(2 π).
    const DENSITY: f32 = 0.398_942_3;
    const CUBIC: f32 = 0.044_715;

    /// An activation of each element.
    pub(crate) fn value<T: Float, const ACT: i32>(x: Tile<f32>) -> Tile<f32> {
        if ACT == SILU {
            x * sigmoid::<T>(x)
        } else if ACT == GELU {
            0.5 * x * (1.0 + (x * ROOT_HALF).erf())
        } else if ACT == GELU_TANH {
            // (1 + tanh(u)) / 2 is the sigmoid of 2 u.
            x * sigmoid::<T>(2.0 * ROOT * x * (1.0 + CUBIC * x * x))
        } else if ACT == RELU {
            positive(x)
        } else {
            let positive = positive(x);
            positive * positive
        }
    }

    /// Its derivative at each element.
    pub(crate) fn slope<T: Float, const ACT: i32>(x: Tile<f32>) -> Tile<f32> {
        if ACT == SILU {
            let sigmoid = sigmoid::<T>(x);
            sigmoid * (1.0 + x * (1.0 - sigmoid))
        } else if ACT == GELU {
            0.5 * (1.0 + (x * ROOT_HALF).erf()) + x * DENSITY * exp::<T>(-0.5 * x * x)
        } else if ACT == GELU_TANH {
            let sigmoid = sigmoid::<T>(2.0 * ROOT * x * (1.0 + CUBIC * x * x));
            // Further out `1 - sigmoid` is 0, or the sigmoid is, and squares of x may exceed the range.
            let near = x.clamp(-16.0, 16.0);
            let inner = 2.0 * ROOT * (1.0 + 3.0 * CUBIC * near * near);
            sigmoid * (1.0 + near * (1.0 - sigmoid) * inner)
        } else if ACT == RELU {
            select(x.gt(0.0), 1.0, select(x.le(0.0), 0.0, x)) // of NaN itself
        } else {
            2.0 * positive(x)
        }
    }

    fn sigmoid<T: Float>(x: Tile<f32>) -> Tile<f32> {
        let sum = 1.0 + exp::<T>(-x);
        if T::BITS == 32 {
            sum.recip()
        } else {
            // A reciprocal to 21 bits, for two instructions in place of ten.
            let root = sum.rsqrt();
            root * root
        }
    }

    /// The exponential, as exact as what is rounded to `T` asks for.
    fn exp<T: Float>(x: Tile<f32>) -> Tile<f32> {
        if T::BITS == 32 { x.exp() } else { x.exp_approx() }
    }

    /// The positive part, of NaN itself.
    fn positive(x: Tile<f32>) -> Tile<f32> {
        select(x.le(0.0), 0.0, x)
    }
}

/// The functions, for kernels that learn only at run time which one is asked for.
#[cfg(any(feature = "grouped", feature = "matmul"))]
#[device]
pub(crate) mod by_number {
    use super::functions::{GELU, GELU_TANH, RELU, RELU_SQUARED, SILU, value};
    use kiln::prelude::*;

    /// An activation of each element by its number, none for a negative one.
    pub(crate) fn chosen<T: Float>(x: Tile<f32>, number: i32) -> Tile<f32> {
        let mut y = x;
        if number == SILU {
            y = value::<T, SILU>(y);
        } else if number == GELU {
            y = value::<T, GELU>(y);
        } else if number == GELU_TANH {
            y = value::<T, GELU_TANH>(y);
        } else if number == RELU {
            y = value::<T, RELU>(y);
        } else if number == RELU_SQUARED {
            y = value::<T, RELU_SQUARED>(y);
        }
        y
    }

    /// Columns of sums whose numbers are computed at a time.
    pub(crate) fn width_at_once(sums: Tile<f32>) -> i32 {
        sums.dim(1).min(32)
    }

    /// Part `part` of sums, a number known only at run time: the code for all parts is there once.
    pub(crate) fn part_of(sums: Tile<f32>, part: i32) -> Tile<f32> {
        let width = width_at_once(sums);
        let mut chosen = sums.slice((.., 0..width));
        for i in unroll(1..sums.dim(1) / width) {
            if part == i {
                chosen = sums.slice((.., i * width..(i + 1) * width));
            }
        }
        chosen
    }
}
