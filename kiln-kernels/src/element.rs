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

/// A type of which matrices are multiplied on tensor cores, with results of type `R`.
///
/// | operands | results | products |
/// |---|---|---|
/// | [`bf16`] | [`bf16`] | exact |
/// | [`struct@f16`] | [`struct@f16`] | exact |
/// | `f32` | `f32` | of TF32: only of methods that say so |
/// | [`e4m3`] | [`bf16`], [`struct@f16`] | exact |
pub trait Operand<R: Real>: Element + sealed::To<R> {}

impl Operand<bf16> for bf16 {}
impl Operand<f16> for f16 {}
impl Operand<f32> for f32 {}
impl Operand<bf16> for e4m3 {}
impl Operand<f16> for e4m3 {}

pub(crate) mod sealed {
    use kiln::prelude::{bf16, e4m3, f16};

    /// The kernels are compiled for these types alone.
    pub trait Sealed {}

    impl Sealed for bf16 {}
    impl Sealed for f16 {}
    impl Sealed for f32 {}

    /// The same of operands and results.
    pub trait To<R> {}

    impl To<bf16> for bf16 {}
    impl To<f16> for f16 {}
    impl To<f32> for f32 {}
    impl To<bf16> for e4m3 {}
    impl To<f16> for e4m3 {}
}
