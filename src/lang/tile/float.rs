//! Functions of tiles of floats.

use super::Tile;
use crate::lang::scalar::{Float, Operand};
use crate::lang::stub;

/// Functions of floats, on each element. [A table at `Tile`](Tile#functions-of-floats) gives their PTX and accuracy.
impl<T: Float> Tile<T> {
    /// e to the power of each element.
    ///
    /// At most 2 ulp of `f32` and `f64`, subnormal results too. Infinite if the result exceeds the range, 0 far below 0; NaN stays NaN.
    /// [`exp_approx`](Tile::exp_approx) takes two instructions instead of eight.
    ///
    /// `fma`, `ex2.approx.ftz.f32`; accuracy, PTX and errors: [functions of floats](Tile#functions-of-floats).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn unnormalised(x: Tile<f32>) -> Tile<f32> {
    ///     (x - x.max(1).expand(1)).exp()
    /// }
    /// ```
    #[must_use = "`exp` gives a new tile, and leaves this one as it was"]
    pub fn exp(self) -> Tile<T> {
        stub()
    }

    /// e to the power of each element, less 1: as exact near 0 as elsewhere.
    ///
    /// At most 2 ulp of `f32` and `f64`. Infinite if the result exceeds the range, -1 far below 0; zeros keep their sign; NaN stays NaN.
    ///
    /// `fma.rn.f32`; accuracy, PTX and errors: [functions of floats](Tile#functions-of-floats).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// The exponential linear unit.
    /// fn elu(x: Tile<f32>) -> Tile<f32> {
    ///     select(x.gt(0.0), x, x.exp_m1())
    /// }
    /// ```
    #[must_use = "`exp_m1` gives a new tile, and leaves this one as it was"]
    pub fn exp_m1(self) -> Tile<T> {
        stub()
    }

    /// 2 to the power of each element.
    ///
    /// At most 2 ulp of `f32` and `f64`, subnormal results too: of `f32` by seven instructions an element. [`exp2_approx`](Tile::exp2_approx) is the
    /// instruction of the hardware.
    ///
    /// `fma.rn.sat.f32`, `ex2.approx.ftz.f32`; accuracy, PTX and errors: [functions of floats](Tile#functions-of-floats).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn shrink(old: Tile<f32>, new: Tile<f32>) -> Tile<f32> {
    ///     (old - new).exp2()
    /// }
    /// ```
    #[must_use = "`exp2` gives a new tile, and leaves this one as it was"]
    pub fn exp2(self) -> Tile<T> {
        stub()
    }

    /// e to the power of each element, as fast as the hardware allows.
    ///
    /// x · log2(e) is rounded before 2 is raised to it, so that of `f32` the error is up to 2 + 1.25 · abs(x) ulp. Results below
    /// 2^-126 are 0. Infinite if the result exceeds the range; NaN stays NaN.
    ///
    /// `mul.rn.f32`, `ex2.approx.ftz.f32`; accuracy, PTX and errors: [functions of floats](Tile#functions-of-floats).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn sigmoid(x: Tile<f32>) -> Tile<f32> {
    ///     1.0 / (1.0 + (-x).exp_approx())
    /// }
    /// ```
    #[must_use = "`exp_approx` gives a new tile, and leaves this one as it was"]
    pub fn exp_approx(self) -> Tile<T> {
        stub()
    }

    /// 2 to the power of each element, in one instruction.
    ///
    /// An error of 2.38 ulp of `f32` was measured on an H200, and results below 2^-126 are 0. Attention folds log2(e) into its scale and
    /// takes powers of 2.
    ///
    /// `ex2.approx.ftz.f32`; accuracy, PTX and errors: [functions of floats](Tile#functions-of-floats).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn weights(scores: Tile<f32>, top: Tile<f32>) -> Tile<f32> {
    ///     (scores - top.expand(1)).exp2_approx()
    /// }
    /// ```
    #[must_use = "`exp2_approx` gives a new tile, and leaves this one as it was"]
    pub fn exp2_approx(self) -> Tile<T> {
        stub()
    }

    /// The natural logarithm of each element.
    ///
    /// At most 2 ulp of `f32` and `f64`, near 1 too. Negative infinity for zeros, NaN for negative elements.
    ///
    /// `fma.rn.f32`, `cvt.rn.f32.s32`; accuracy, PTX and errors: [functions of floats](Tile#functions-of-floats).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn log_sum_exp(x: Tile<f32>) -> Tile<f32> {
    ///     let top = x.max(1);
    ///     top + (x - top.expand(1)).exp().sum(1).ln()
    /// }
    /// ```
    #[must_use = "`ln` gives a new tile, and leaves this one as it was"]
    pub fn ln(self) -> Tile<T> {
        stub()
    }

    /// The natural logarithm of 1 and each element: as exact near 0 as elsewhere.
    ///
    /// At most 2 ulp of `f32` and `f64`. Negative infinity for -1, NaN for elements below; zeros keep their sign.
    ///
    /// `fma.rn.f32`, `cvt.rn.f32.s32`; accuracy, PTX and errors: [functions of floats](Tile#functions-of-floats).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn softplus(x: Tile<f32>) -> Tile<f32> {
    ///     maximum(x, 0.0) + (-x.abs()).exp().ln_1p()
    /// }
    /// ```
    #[must_use = "`ln_1p` gives a new tile, and leaves this one as it was"]
    pub fn ln_1p(self) -> Tile<T> {
        stub()
    }

    /// The logarithm to base 2 of each element.
    ///
    /// At most 2 ulp of `f32` and `f64`, near 1 too. Negative infinity for zeros, NaN for negative elements.
    ///
    /// `fma.rn.f32`, `cvt.rn.f32.s32`; accuracy, PTX and errors: [functions of floats](Tile#functions-of-floats).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn entropy(p: Tile<f32>) -> Tile<f32> {
    ///     -(p * p.log2()).sum(1)
    /// }
    /// ```
    #[must_use = "`log2` gives a new tile, and leaves this one as it was"]
    pub fn log2(self) -> Tile<T> {
        stub()
    }

    /// The logarithm to base 10 of each element.
    ///
    /// At most 2 ulp of `f32` and `f64`, near 1 too. Negative infinity for zeros, NaN for negative elements.
    ///
    /// `fma.rn.f32`, `cvt.rn.f32.s32`; accuracy, PTX and errors: [functions of floats](Tile#functions-of-floats).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn decibels(power: Tile<f32>) -> Tile<f32> {
    ///     10.0 * power.log10()
    /// }
    /// ```
    #[must_use = "`log10` gives a new tile, and leaves this one as it was"]
    pub fn log10(self) -> Tile<T> {
        stub()
    }

    /// The natural logarithm of each element, as fast as the hardware allows.
    ///
    /// Of `f32` the error is 2^-22 · ln(2), absolute between 0.5 and 2 and relative elsewhere, and that of the multiplication by
    /// ln(2). Negative infinity for zeros, NaN for negative elements.
    ///
    /// `lg2.approx.f32`, `mul.rn.f32`; accuracy, PTX and errors: [functions of floats](Tile#functions-of-floats).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn log_likelihood(p: Tile<f32>) -> Tile<f32> {
    ///     p.ln_approx().sum(-1)
    /// }
    /// ```
    #[must_use = "`ln_approx` gives a new tile, and leaves this one as it was"]
    pub fn ln_approx(self) -> Tile<T> {
        stub()
    }

    /// The logarithm to base 2 of each element, in one instruction.
    ///
    /// Of `f32` the error is 2^-22, absolute between 0.5 and 2 and relative elsewhere. Negative infinity for zeros, NaN for negative
    /// elements.
    ///
    /// `lg2.approx.f32`; accuracy, PTX and errors: [functions of floats](Tile#functions-of-floats).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn octaves(frequency: Tile<f32>, base: f32) -> Tile<f32> {
    ///     (frequency / base).log2_approx()
    /// }
    /// ```
    #[must_use = "`log2_approx` gives a new tile, and leaves this one as it was"]
    pub fn log2_approx(self) -> Tile<T> {
        stub()
    }

    /// The square root of each element.
    ///
    /// Correctly rounded. NaN for negative elements; the root of -0 is -0.
    ///
    /// `sqrt.rn.f32`; accuracy, PTX and errors: [functions of floats](Tile#functions-of-floats).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn norms(x: Tile<f32>) -> Tile<f32> {
    ///     (x * x).sum(1).sqrt()
    /// }
    /// ```
    #[must_use = "`sqrt` gives a new tile, and leaves this one as it was"]
    pub fn sqrt(self) -> Tile<T> {
        stub()
    }

    /// The cube root of each element, negative ones too.
    ///
    /// At most 2 ulp of `f32` and `f64`. Zeros and infinities are their own roots; NaN stays NaN.
    ///
    /// `lg2.approx.f32`, `ex2.approx.ftz.f32`, `rcp.approx.ftz.f32`, `fma.rn.f32`; accuracy, PTX and errors: [functions of floats](Tile#functions-of-floats).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn side(volume: Tile<f32>) -> Tile<f32> {
    ///     volume.cbrt()
    /// }
    /// ```
    #[must_use = "`cbrt` gives a new tile, and leaves this one as it was"]
    pub fn cbrt(self) -> Tile<T> {
        stub()
    }

    /// Each element to the power of `y`, a tile or a number.
    ///
    /// At most 2 ulp of `f32` and `f64`, with the special cases of Rust and C: NaN for a negative element and a power that is not an integer, 1
    /// for the power 0 and for the base 1 even of NaN. [`powi`](Tile::powi) multiplies for a constant integer, which is faster.
    ///
    /// `fma.rn.f32`, `rcp.approx.ftz.f32`; accuracy, PTX and errors: [functions of floats](Tile#functions-of-floats).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// Linear light to sRGB, apart from its darkest part.
    /// fn encoded(x: Tile<f32>) -> Tile<f32> {
    ///     1.055 * x.powf(1.0 / 2.4) - 0.055
    /// }
    /// ```
    #[must_use = "`powf` gives a new tile, and leaves this one as it was"]
    pub fn powf(self, y: impl Operand<T>) -> Tile<T> {
        stub()
    }

    /// One over the square root of each element.
    ///
    /// Infinite for 0, NaN for negative elements.
    ///
    /// `rsqrt.approx.f32`; accuracy, PTX and errors: [functions of floats](Tile#functions-of-floats).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn rms_norm(x: Tile<f32>, eps: f32) -> Tile<f32> {
    ///     let mean = (x * x).sum(1) / x.dim(1) as f32;
    ///     x * (mean + eps).rsqrt().expand(1)
    /// }
    /// ```
    #[must_use = "`rsqrt` gives a new tile, and leaves this one as it was"]
    pub fn rsqrt(self) -> Tile<T> {
        stub()
    }

    /// The sine of each element, in radians.
    ///
    /// At most 2 ulp of `f32` and `f64`, of angles of any size. NaN for infinite elements; zeros keep their sign.
    ///
    /// `fma.rn.f32`; angles from 131072 on take a branch with integer products; accuracy, PTX and errors: [functions of floats](Tile#functions-of-floats).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn wave(x: Tile<f32>) -> Tile<f32> {
    ///     (2.0 * x).sin()
    /// }
    /// ```
    #[must_use = "`sin` gives a new tile, and leaves this one as it was"]
    pub fn sin(self) -> Tile<T> {
        stub()
    }

    /// The cosine of each element, in radians.
    ///
    /// At most 2 ulp of `f32` and `f64`, of angles of any size. NaN for infinite elements.
    ///
    /// `fma.rn.f32`; angles from 131072 on take a branch with integer products; accuracy, PTX and errors: [functions of floats](Tile#functions-of-floats).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// The real and imaginary parts of x · exp(i · angle).
    /// fn rotate(re: Tile<f32>, im: Tile<f32>, angle: Tile<f32>) -> (Tile<f32>, Tile<f32>) {
    ///     let (c, s) = (angle.cos(), angle.sin());
    ///     (re * c - im * s, re * s + im * c)
    /// }
    /// ```
    #[must_use = "`cos` gives a new tile, and leaves this one as it was"]
    pub fn cos(self) -> Tile<T> {
        stub()
    }

    /// The sine of each element, in radians, in one instruction.
    ///
    /// Of `f32` the absolute error is 2^-20.5 between -2π and 2π, and grows with the angle. NaN for infinite elements.
    ///
    /// `sin.approx.f32`; accuracy, PTX and errors: [functions of floats](Tile#functions-of-floats).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn embedding(position: Tile<f32>) -> Tile<f32> {
    ///     (position * 0.01).sin_approx()
    /// }
    /// ```
    #[must_use = "`sin_approx` gives a new tile, and leaves this one as it was"]
    pub fn sin_approx(self) -> Tile<T> {
        stub()
    }

    /// The cosine of each element, in radians, in one instruction.
    ///
    /// Of `f32` the absolute error is 2^-20.5 between -2π and 2π, and grows with the angle. NaN for infinite elements.
    ///
    /// `cos.approx.f32`; accuracy, PTX and errors: [functions of floats](Tile#functions-of-floats).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn window(x: Tile<f32>) -> Tile<f32> {
    ///     0.5 - 0.5 * (x * 6.283_185_5).cos_approx()
    /// }
    /// ```
    #[must_use = "`cos_approx` gives a new tile, and leaves this one as it was"]
    pub fn cos_approx(self) -> Tile<T> {
        stub()
    }

    /// The hyperbolic tangent of each element.
    ///
    /// At most 2 ulp of `f32` and `f64`. ±1 for infinite elements; zeros keep their sign. [`tanh_approx`](Tile::tanh_approx) is one instruction.
    ///
    /// `fma.rn.f32`, `ex2.approx.ftz.f32`, `rcp.approx.ftz.f32`; accuracy, PTX and errors: [functions of floats](Tile#functions-of-floats).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// The tanh form of GELU.
    /// fn gelu(x: Tile<f32>) -> Tile<f32> {
    ///     let inner = 0.797_884_6 * (x + 0.044_715 * x * x * x);
    ///     0.5 * x * (1.0 + inner.tanh())
    /// }
    /// ```
    #[must_use = "`tanh` gives a new tile, and leaves this one as it was"]
    pub fn tanh(self) -> Tile<T> {
        stub()
    }

    /// The hyperbolic tangent of each element, in one instruction.
    ///
    /// Of `f32` the relative error is 2^-11: 13 bits of the fraction are not to be relied on. ±1 for infinite elements.
    ///
    /// `tanh.approx.f32`; accuracy, PTX and errors: [functions of floats](Tile#functions-of-floats).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn capped(scores: Tile<f32>) -> Tile<f32> {
    ///     30.0 * (scores / 30.0).tanh_approx()
    /// }
    /// ```
    #[must_use = "`tanh_approx` gives a new tile, and leaves this one as it was"]
    pub fn tanh_approx(self) -> Tile<T> {
        stub()
    }

    /// The error function of each element: 2/√π times the integral of exp(-t²) from 0 to it.
    ///
    /// At most 2 ulp of `f32` and `f64`. ±1 for infinite elements, NaN for NaN; zeros keep their sign.
    ///
    /// Two polynomials by `fma.rn.f32` and one `ex2.approx.ftz.f32`; accuracy, PTX and errors: [functions of
    /// floats](Tile#functions-of-floats).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// GELU as it is defined: x times the probability that a normal variable is below x.
    /// fn gelu(x: Tile<f32>) -> Tile<f32> {
    ///     0.5 * x * (1.0 + (x * 0.707_106_77).erf())
    /// }
    /// ```
    #[must_use = "`erf` gives a new tile, and leaves this one as it was"]
    pub fn erf(self) -> Tile<T> {
        stub()
    }

    /// 1 less the error function of each element: exact to the last places where that is near 1.
    ///
    /// At most 2 ulp of `f32` and `f64`, subnormal results too. 2 and 0 for infinite elements; NaN stays NaN.
    ///
    /// `fma.rn.f32`, `ex2.approx.ftz.f32`, `rcp.approx.ftz.f32`; accuracy, PTX and errors: [functions of floats](Tile#functions-of-floats).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// How probable it is that a normal variable is above x.
    /// fn above(x: Tile<f32>) -> Tile<f32> {
    ///     0.5 * (x * 0.707_106_77).erfc()
    /// }
    /// ```
    #[must_use = "`erfc` gives a new tile, and leaves this one as it was"]
    pub fn erfc(self) -> Tile<T> {
        stub()
    }

    /// Whether each element is not a number.
    ///
    /// One `setp.neu`: NaN alone differs from itself. K0204 for integers and masks.
    ///
    /// Layout, PTX and errors: [elementwise operations](Tile#elementwise-operations).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn without_nan(x: Tile<f32>) -> Tile<f32> {
    ///     select(x.is_nan(), 0.0, x)
    /// }
    /// ```
    #[must_use = "`is_nan` gives a new tile, and leaves this one as it was"]
    pub fn is_nan(self) -> Tile<bool> {
        stub()
    }

    /// Whether each element is infinite, of either sign. False for NaN.
    ///
    /// `abs` and one `setp`. K0204 for integers and masks.
    ///
    /// Layout, PTX and errors: [elementwise operations](Tile#elementwise-operations).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn has_overflowed(x: Tile<f16>) -> Tile<bool> {
    ///     x.is_infinite()
    /// }
    /// ```
    #[must_use = "`is_infinite` gives a new tile, and leaves this one as it was"]
    pub fn is_infinite(self) -> Tile<bool> {
        stub()
    }

    /// Whether each element is neither infinite nor NaN.
    ///
    /// `abs` and one `setp`. K0204 for integers and masks.
    ///
    /// Layout, PTX and errors: [elementwise operations](Tile#elementwise-operations).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn or_zero(x: Tile<f32>) -> Tile<f32> {
    ///     select(x.is_finite(), x, 0.0)
    /// }
    /// ```
    #[must_use = "`is_finite` gives a new tile, and leaves this one as it was"]
    pub fn is_finite(self) -> Tile<bool> {
        stub()
    }

    /// The reciprocal of each element: `1.0 / x`, correctly rounded as that is.
    ///
    /// Layout, PTX and errors: [elementwise operations](Tile#elementwise-operations). K0204 for integers and masks.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn normalised(x: Tile<f32>) -> Tile<f32> {
    ///     x * x.sum(-1).recip().expand(-1)
    /// }
    /// ```
    #[must_use = "`recip` gives a new tile, and leaves this one as it was"]
    pub fn recip(self) -> Tile<T> {
        stub()
    }

    /// Each element to the power of `n`, an integer known at compile time.
    ///
    /// Products of squares: each rounds, so of large `n` the result differs in more than the last place. `x.powi(0)` is 1
    /// of every element; for a negative `n` it is `1.0 / x.powi(-n)`.
    ///
    /// At most `2 * log2(n)` multiplications. K0106 for an exponent not known at compile time, K0207 for one beyond 1024,
    /// K0204 for integers and masks.
    ///
    /// Layout, PTX and errors: [elementwise operations](Tile#elementwise-operations).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn cubes(x: Tile<f32>) -> Tile<f32> {
    ///     x.powi(3)
    /// }
    /// ```
    #[must_use = "`powi` gives a new tile, and leaves this one as it was"]
    pub fn powi(self, n: i32) -> Tile<T> {
        stub()
    }

    /// The greatest integral value not above each element.
    ///
    /// Exact. Infinities and NaN stay.
    ///
    /// `cvt.rmi.f32.f32`; accuracy, PTX and errors: [functions of floats](Tile#functions-of-floats).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn fraction(x: Tile<f32>) -> Tile<f32> {
    ///     x - x.floor()
    /// }
    /// ```
    #[must_use = "`floor` gives a new tile, and leaves this one as it was"]
    pub fn floor(self) -> Tile<T> {
        stub()
    }

    /// The integral part of each element: rounded towards zero.
    ///
    /// Exact. Infinities and NaN stay.
    ///
    /// `cvt.rzi.f32.f32`; accuracy, PTX and errors: [functions of floats](Tile#functions-of-floats).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn signed_fraction(x: Tile<f32>) -> Tile<f32> {
    ///     x - x.trunc()
    /// }
    /// ```
    #[must_use = "`trunc` gives a new tile, and leaves this one as it was"]
    pub fn trunc(self) -> Tile<T> {
        stub()
    }

    /// The integral value nearest to each element; of two as near, the one further from zero, as in Rust and C.
    ///
    /// Exact. Infinities and NaN stay, and what is rounded to zero keeps its sign.
    /// [`round_ties_even`](Tile::round_ties_even) takes one instruction, this three.
    ///
    /// `copysign.f32`, `add.rn.f32`, `cvt.rzi.f32.f32`; accuracy, PTX and errors: [functions of
    /// floats](Tile#functions-of-floats).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn nearest_pixels(x: Tile<f32>) -> Tile<i32> {
    ///     x.round().cast()
    /// }
    /// ```
    #[must_use = "`round` gives a new tile, and leaves this one as it was"]
    pub fn round(self) -> Tile<T> {
        stub()
    }

    /// The integral value nearest to each element; of two as near, the even one, as in IEEE 754 and PTX.
    ///
    /// Exact. Infinities and NaN stay, and what is rounded to zero keeps its sign.
    ///
    /// `cvt.rni.f32.f32`; accuracy, PTX and errors: [functions of floats](Tile#functions-of-floats).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn quantised(x: Tile<f32>, scale: f32) -> Tile<i8> {
    ///     (x / scale).round_ties_even().cast()
    /// }
    /// ```
    #[must_use = "`round_ties_even` gives a new tile, and leaves this one as it was"]
    pub fn round_ties_even(self) -> Tile<T> {
        stub()
    }

    /// Each element with the sign of the other's: its magnitude stays.
    ///
    /// `sign` is a tile or a scalar. The signs of zeros and NaN count too.
    ///
    /// `copysign.f32`; of the half types `and.b16` and `or.b16`. Layout, PTX and errors: [elementwise
    /// operations](Tile#elementwise-operations).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// Moves each element towards zero by `by`, at most to zero.
    /// fn shrunk(x: Tile<f32>, by: f32) -> Tile<f32> {
    ///     maximum(x.abs() - by, 0.0).copysign(x)
    /// }
    /// ```
    #[must_use = "`copysign` gives a new tile, and leaves this one as it was"]
    pub fn copysign(self, sign: impl Operand<T>) -> Tile<T> {
        stub()
    }

    /// The least integral value not below each element.
    ///
    /// Exact. Infinities and NaN stay.
    ///
    /// `cvt.rpi.f32.f32`; accuracy, PTX and errors: [functions of floats](Tile#functions-of-floats).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn blocks_needed(x: Tile<f32>) -> Tile<i32> {
    ///     (x / 32.0).ceil().cast()
    /// }
    /// ```
    #[must_use = "`ceil` gives a new tile, and leaves this one as it was"]
    pub fn ceil(self) -> Tile<T> {
        stub()
    }
}
