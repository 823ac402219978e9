//! Kiln's kernels in [candle](candle_core): candle's tensors are their arguments, and they are ops of candle's graph.
//!
//! * [`Op`] is an operation with a gradient: candle's `CustomOp1` to `CustomOp3` as one trait, for any number of inputs.
//! * [`InPlaceOp`] changes a tensor; [`run`] calls kernels without a graph or gradient.
//! * [`Arg`] is a candle tensor as an argument of a kernel: with its strides and its start, in place.
//! * [`match_dtype!`] chooses an instance by dtype.
//!
//! One launch serves both of candle's devices that Kiln knows. A CUDA tensor (feature `cuda`) is used in place, on
//! candle's stream: nothing is copied and the host does not wait. For CPU tensors, Kiln's emulator runs the kernel, so
//! that the tests of a candle program need no GPU.
//!
//! ```
//! // Kernels have a module of their own: Kiln's prelude and candle both have a `Tensor`.
//! mod kernels {
//!     use kiln::prelude::*;
//!
//!     /// out = x / (1 + exp(-x))
//!     #[kernel(target = sm_80, warps = 4, grid = cdiv(out.dim(0), 1024), instances(T = [f32, f16, bf16]))]
//!     pub fn silu<T: Float>(x: Tensor<T, 1>, out: TensorMut<T, 1>) {
//!         let at = [block_id(0) * 1024];
//!         let v = x.tile(at, [1024]).load().cast::<f32>();
//!         out.tile(at, [1024]).store((v / ((-v).exp() + 1.0)).cast::<T>());
//!     }
//! }
//!
//! use candle_core::{Device, Tensor, Var};
//! use kernels::silu;
//! use kiln_candle::{Arg, Backward, Call, Forward, Op, Result, bf16, f16, match_dtype};
//!
//! struct Silu;
//!
//! impl Op<1> for Silu {
//!     const NAME: &'static str = "silu";
//!     const TARGETS: &'static [kiln::Target] = silu::TARGETS;
//!
//!     fn forward(&self, call: &Call, [x]: [Arg<'_>; 1]) -> Result<Forward> {
//!         match_dtype!(x, T in [f32, f16, bf16] => {
//!             let flat = x.flattened::<T, 1>()?;
//!             let mut out = call.empty(flat.shape())?;
//!             silu::<T>(silu::Args { x: &flat, out: &mut out }).launch(call.stream())?;
//!             Ok(out.finish(x.shape())?.into())
//!         })
//!     }
//!
//!     /// g · s · (1 + x · (1 - s)), where s is the sigmoid of x, by candle's own operations.
//!     fn backward(&self, step: &Backward<'_, 1>) -> Result<[Option<Tensor>; 1]> {
//!         let [x] = step.inputs;
//!         let sigmoid = ((x.neg()?.exp()? + 1.0)?).recip()?;
//!         let slope = (&sigmoid * ((x * (1.0 - &sigmoid)?)? + 1.0)?)?;
//!         Ok([Some((slope * step.gradient)?)])
//!     }
//! }
//!
//! let x = Var::new(&[[0f32, 2.0], [-1.0, 10.0]], &Device::Cpu)?;
//! let y = Silu.apply([&x])?;
//! assert_eq!(y.dims(), [2, 2]);
//! assert!((y.to_vec2::<f32>()?[1][0] + 0.268_941).abs() < 1e-6);
//!
//! let gradients = y.sum_all()?.backward()?;
//! assert_eq!(gradients.get(&x).map(|dx| dx.to_vec2::<f32>()).transpose()?.map(|dx| dx[0][0]), Some(0.5));
//! # Ok::<(), candle_core::Error>(())
//! ```
//!
//! # On the CPU
//!
//! The emulator of the newest target of [`Op::TARGETS`] runs the kernels, and reports races, reads of uninitialised
//! memory and accesses out of bounds as errors, with the kernel's line. The environment variable `KILN_DEVICE` names
//! another target (`emulator:sm_80`) or a GPU (`cuda:0`), to which elements are then copied and back; this needs the
//! feature `cuda` of `kiln-gpu`, but not candle's.
//!
//! # On a GPU
//!
//! candle allocates the outputs, as for its own operations. For inputs of several candle devices on one GPU, each with
//! its own stream, cudarc's events keep the order. candle's feature `cuda` needs nvcc; `cuda-from-pypi.sh` in this
//! package's folder gets it, and the libraries to link, from Python packages.
//!
//! # Errors
//!
//! [`Error`] names the op, the input and what was required. candle's functions return it as a [`candle_core::Error`],
//! in which [`cause`] finds it. candle refuses a tensor on a Metal device, because these ops have no implementation for
//! it.
//!
//! # What candle has no place for
//!
//! An op has one output; put several into one tensor and separate them with `narrow`, or save them for the backward
//! step ([`Forward::saving`]). Only candle's own operations in a backward step have gradients of gradients, since
//! [`run`] has none.

#![deny(unsafe_code)]

mod arg;
mod call;
#[cfg(feature = "cuda")]
mod cuda;
mod element;
mod error;
mod graph;
mod in_place;
mod join;
mod op;
mod place;
mod run;

pub use arg::Arg;
pub use call::{Call, Output, Value, Values};
pub use element::Element;
pub use error::{Error, Input, Names, Result, cause};
pub use half::{bf16, f16};
pub use in_place::{ArgMut, Edited, InPlaceOp};
pub use kiln::prelude::{e4m3, ue8m0};
pub use op::{Backward, Forward, Op};
pub use run::run;

/// Runs code for the dtype of an [`Arg`] or an [`ArgMut`], with a name for the element type, for example to choose an
/// instance.
///
/// The value is a [`Result`]: that of the code, or [`Error::Dtype`] for a dtype that is not in the list. The types are [`Element`]s.
///
/// ```
/// use candle_core::{DType, Device, Tensor};
/// use kiln_candle::{f16, match_dtype, run};
///
/// let bytes_of = |x: &Tensor| {
///     let mut bytes = 0;
///     run("bytes", &[kiln::Target::Sm80], [x], |_, [x]| {
///         bytes = match_dtype!(x, T in [f32, f16] => { Ok(size_of::<T>()) })?;
///         Ok(())
///     })?;
///     Ok::<usize, candle_core::Error>(bytes)
/// };
/// let x = Tensor::zeros(3, DType::F16, &Device::Cpu)?;
/// assert_eq!(bytes_of(&x)?, 2);
/// let refused = bytes_of(&x.to_dtype(DType::U32)?).expect_err("it is not in the list");
/// assert!(refused.to_string().starts_with("bytes: input 0 has dtype u32; the kernel takes f32, f16"));
/// # Ok::<(), candle_core::Error>(())
/// ```
#[macro_export]
macro_rules! match_dtype {
    ($arg:expr, $name:ident in [$($type:ty),+ $(,)?] => $body:block) => {{
        let arg = &$arg;
        let dtype = arg.dtype();
        $(if dtype == <$type as $crate::Element>::CANDLE {
            type $name = $type;
            $body
        } else)+ {
            ::core::result::Result::Err(
                arg.unsupported(&[$(<$type as $crate::Element>::CANDLE),+]),
            )
        }
    }};
}

/// Compiles and runs the README's program.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
