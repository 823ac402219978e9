//! The element types that the kernels are compiled for.

use kiln::prelude::*;

/// A floating-point type that kernels of rows and of single elements are compiled for: [`bf16`], [`struct@f16`] and [`f32`]. They compute in
/// f32 and round results once.
pub trait Real: Element + sealed::Sealed {}

impl Real for bf16 {}
impl Real for f16 {}
impl Real for f32 {}

/// A floating-point type of 16 bits, which the tensor cores multiply: [`bf16`] and [`struct@f16`]. Sums are computed in f32.
pub trait Half: Real + Operand<Self> {}

impl Half for bf16 {}
impl Half for f16 {}

/// An FP8 type, which the tensor cores multiply: [`e4m3`], and [`e5m2`], which has more range and fewer digits.
pub trait Float8: Element + sealed::Sealed {}

impl Float8 for e4m3 {}
impl Float8 for e5m2 {}

/// A type of which matrices are multiplied on tensor cores: left operands, by right ones of type `B` and with results of type `R`.
///
/// | left operands | right operands | results | products |
/// |---|---|---|---|
/// | [`bf16`] | [`bf16`] | [`bf16`] | exact |
/// | [`struct@f16`] | [`struct@f16`] | [`struct@f16`] | exact |
/// | `f32` | `f32` | `f32` | of TF32: only of methods that say so |
/// | [`e4m3`] | [`e4m3`] | [`bf16`], [`struct@f16`] | exact |
/// | [`e5m2`] | [`e4m3`] | [`bf16`] | exact |
/// | [`e4m3`] | [`e5m2`] | [`bf16`] | exact |
#[diagnostic::on_unimplemented(
    message = "matrices of `{Self}` are not multiplied by those of `{B}` with results of `{R}`",
    note = "operands of `e5m2` are multiplied by those of `e4m3`, with results of `bf16`",
    note = "two operands of `e4m3` have results of `bf16` or `f16`"
)]
pub trait Operand<R: Real, B = Self>: Element + sealed::To<R, B> {}

impl Operand<bf16> for bf16 {}
impl Operand<f16> for f16 {}
impl Operand<f32> for f32 {}
impl Operand<bf16> for e4m3 {}
impl Operand<f16> for e4m3 {}
impl Operand<bf16, e4m3> for e5m2 {}
impl Operand<bf16, e5m2> for e4m3 {}

pub(crate) mod sealed {
    use kiln::prelude::{bf16, e4m3, e5m2, f16};

    /// The kernels are compiled for these types alone.
    pub trait Sealed {}

    impl Sealed for bf16 {}
    impl Sealed for f16 {}
    impl Sealed for f32 {}
    impl Sealed for e4m3 {}
    impl Sealed for e5m2 {}

    /// The same of operands and results.
    pub trait To<R, B> {}

    impl To<bf16, bf16> for bf16 {}
    impl To<f16, f16> for f16 {}
    impl To<f32, f32> for f32 {}
    impl To<bf16, e4m3> for e4m3 {}
    impl To<f16, e4m3> for e4m3 {}
    impl To<bf16, e4m3> for e5m2 {}
    impl To<bf16, e5m2> for e4m3 {}
}
