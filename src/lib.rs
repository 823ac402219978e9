//! Kiln: kernels for GPUs, written in Rust over tiles and compiled by `cargo build`.
//!
//! A function marked `#[kernel]` is compiled to PTX while the crate is built, and the PTX is
//! embedded in the binary. The function's name then makes typed launches, on an NVIDIA GPU or on
//! Kiln's own emulator of one, which runs the same PTX on the CPU and reports races, accesses out
//! of bounds and other faults with the kernel's line. Nothing but cargo is needed to build and to
//! test; nothing but the driver to run.
//!
//! Where to read on:
//!
//! * [`lang`] is the reference of the language: everything that a kernel's body can use;
//! * [`Device`], [`Stream`] and [`DeviceTensor`] are the host's side: memory, and order of
//!   execution;
//! * [`Launch`] and [`UnsafeLaunch`] are what a kernel's name gives;
//! * [`prelude`] has all of it, for `use kiln::prelude::*`.
//!
//! # Features
//!
//! `cuda` and `emulator`, both on by default, are where kernels can be launched. The driver's
//! library is loaded at run time, so that a program with `cuda` also starts on a machine without a
//! GPU.

#![forbid(unsafe_code)]

pub mod lang;

#[cfg(feature = "driver-bindgen")]
#[doc(hidden)]
pub mod driver_bindgen;

pub use kernel_macros::kernel;
pub use kernel_runtime::{
    Actual, Argument, Device, DevicePtr, DeviceTensor, DriverError, DriverVersion, Element, Error,
    Event, Fact, Grid, Image, IntoArgument, IntoGrid, Launch, ParamInfo, ParamKind, Properties,
    Result, Stream, Target, TensorView, TensorViewMut, UnsafeLaunch, Variant, persistent,
};
#[cfg(feature = "emulator")]
pub use kernel_runtime::{Fault, Report};

/// What kernels and the programs that launch them are written with: `use kiln::prelude::*`.
pub mod prelude {
    pub use crate::lang::{
        Address, Array, Bits, Cast, CopyDestination, CopySource, Float, Int, Layout, Matrix,
        Number, Operand, Ptr, Scalar, Shape, Shared, Tensor, TensorMut, Tile, View, ViewMut,
        arange, array, atomic, bf16, block_id, blocked, cdiv, copy_async, copy_async_commit,
        copy_async_wait, copy_async_wait_all, device_assert, dot, dot_tf32, f16, fma, full,
        grid_dim, load, load_masked, maximum, minimum, num_blocks, num_warps, range, select,
        shared, slice, sm_80, sm_90a, sm_100a, store, store_masked, swizzle, sync, target, unroll,
        zeros,
    };
    pub use kernel_macros::kernel;
    pub use kernel_runtime::{
        Device, DevicePtr, DeviceTensor, Element, Error, Event, Grid, IntoArgument, Launch, Result,
        Stream, Target, TensorView, TensorViewMut, UnsafeLaunch, persistent,
    };
}

/// What the code that `#[kernel]` generates is written with. Not for use by hand: it changes
/// without notice.
#[doc(hidden)]
pub mod __private {
    pub use half::{bf16, f16};
    pub use kernel_runtime::*;
}

/// The README's kernel is compiled and run as it stands there.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
