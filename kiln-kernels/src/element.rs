//! The element types that the kernels are compiled for.

use kiln::prelude::*;

/// A floating-point type that kernels of rows and of single elements are compiled for: [`bf16`], [`struct@f16`] and [`f32`]. They compute in
/// f32 and round results once.
pub trait Real: Element + sealed::Sealed {}

impl Real for bf16 {}
impl Real for f16 {}
impl Real for f32 {}

/// A floating-point type of 16 bits, which the tensor cores multiply: [`bf16`] and [`struct@f16`]. Sums are computed in f32.
pub trait Half: Real {}

impl Half for bf16 {}
impl Half for f16 {}

pub(crate) mod sealed {
    use kiln::prelude::{bf16, f16};

    /// The kernels are compiled for these types alone.
    pub trait Sealed {}

    impl Sealed for bf16 {}
    impl Sealed for f16 {}
    impl Sealed for f32 {}
}
