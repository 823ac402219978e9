//! Kiln: kernels for GPUs, written in Rust over tiles and compiled by `cargo build`.
//!
//! A function marked `#[kernel]` is compiled to PTX while the crate is built, and the PTX is
//! embedded in the binary. The function's name then makes typed launches, on an NVIDIA GPU or on
//! Kiln's own emulator of one, which runs the same PTX on the CPU and reports races of warps on
//! shared memory (not on global memory), accesses out of bounds and other faults with the kernel's
//! line. Nothing but cargo is needed to build and to test; nothing but the driver to run.
//!
//! Where to read on:
//!
//! * [`lang`] is the reference of the language: everything that a kernel's body can use, with its layouts, PTX and
//!   [errors](lang#errors);
//! * [`sched`] and [`Ring`] are device code that comes with the crate: which tiles a block computes, and its place in a ring of buffers;
//! * [`Device`], [`Stream`] and [`DeviceTensor`] are the host's side: memory, and order of
//!   execution;
//! * [`Launch`] and [`UnsafeLaunch`] are what a kernel's name gives;
//! * [`prelude`] has all of it, for `use kiln::prelude::*`.
//!
//! # Features
//!
//! `cuda` and `emulator`, both on by default, are where kernels can be launched. The driver's
//! library is loaded at run time, so that a program with `cuda` also starts on a machine without a
//! GPU. `driver-bindgen`, off by default, makes the driver's bindings from the `cuda.h` that is
//! installed, which takes libclang while building; Kiln's own launches do not need it.

#![forbid(unsafe_code)]

// Device code of this crate names it as that of other crates does.
extern crate self as kiln;

pub mod lang;
mod ring;
pub mod sched;

pub use ring::Ring;

#[cfg(feature = "driver-bindgen")]
#[doc(hidden)]
pub mod driver_bindgen;

/// Compiles a function over tiles to PTX, or the marked functions of a module.
///
/// # Arguments
///
/// | argument | meaning |
/// |---|---|
/// | `target = sm_80`, `target = [sm_80, sm_90a]` | what to compile for; required. `sm_80` code runs on every later GPU |
/// | `warps = 4`, `warps = W` | warps of a block, a power of two up to 32; 4 if left out. May name a generic parameter |
/// | `grid = cdiv(out.dim(0), N)`, `grid = [x, y]` | how many blocks to start, an expression of the host over the arguments and generic parameters, in `i32` as they are; what does not fit is [`Error::GridExpression`] at the launch. Without it the caller gives [`Launch::grid`] |
/// | `instances(N = [64, 128], (M, W) = [(64, 4), (128, 8)])` | the values of the generic parameters; every combination of the lists is compiled |
/// | `crate = path` | where this crate is found, if not under the name that the package's Cargo.toml gives it (a re-export, say); the `#[kernel]` of a module and `#[device]` take it too |
///
/// Parameters are tensors (`Tensor<T, R>` read, `TensorMut<T, R>` written), raw pointers (`Ptr<T>`) and scalars. Facts about them
/// make better code, and are checked at the launch: `#[multiple_of(16)] n: i32`, `#[stride(_, 1)] x: Tensor<f32, 2>`.
///
/// # What it leaves
///
/// For a kernel `name`: the function `name::<..>(name::Args { .. })`, which gives a [`Launch`] ([`UnsafeLaunch`] where the kernel
/// works with raw addresses); `name::Args` with a field for each parameter; `name::TARGETS`; and `name::INSTANCES`, everything that was compiled.
/// Each instance is compiled twice: for contiguous, 16-byte aligned tensors, and for any; the launch takes what fits. A third variant
/// is for extents of which a copy by tensor map makes more, such as whole columns of its swizzle.
///
/// Before a module, `#[kernel]` compiles the functions in it that are marked `#[kernel(..)]` themselves; the functions, structs, traits and
/// constants beside them are theirs to use.
///
/// ```
/// use kiln::prelude::*;
///
/// #[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), N), instances(N = [256]))]
/// fn scale<const N: i32>(x: Tensor<f32, 1>, factor: f32, out: TensorMut<f32, 1>) {
///     let at = [block_id(0) * N];
///     out.tile(at, [N]).store(x.tile(at, [N]).load() * factor);
/// }
///
/// let device = Device::emulator(Target::Sm80)?;
/// let stream = device.stream()?;
/// let x = stream.upload(&[1.0f32, 2.0, 3.0], [3])?;
/// let mut out = stream.zeros([3])?;
/// scale::<256>(scale::Args { x: &x, factor: 2.0, out: &mut out }).launch(&stream)?;
/// assert_eq!(out.to_vec(&stream)?, [2.0, 4.0, 6.0]);
/// # Ok::<(), kiln::Error>(())
/// ```
pub use kernel_macros::kernel;

/// Makes a function, or the items of a module, usable by kernels of other modules and crates.
///
/// ```
/// use kiln::prelude::*;
///
/// mod act {
///     use kiln::prelude::*;
///
///     /// x / (1 + exp(-x))
///     #[device]
///     pub fn silu<T: Float>(x: Tile<T>) -> Tile<T> {
///         x / (T::of(1.0) + (-x).exp())
///     }
/// }
///
/// /// A counter that starts again.
/// #[device]
/// mod ring {
///     pub struct Ring<const N: i32> {
///         pub at: i32,
///     }
///
///     impl<const N: i32> Ring<N> {
///         pub fn next(&mut self) {
///             self.at = if self.at == N - 1 { 0 } else { self.at + 1 };
///         }
///     }
/// }
///
/// use act::silu as swish;
///
/// #[kernel(target = sm_80, warps = 4, grid = 1)]
/// fn apply(x: TensorMut<f32, 1>) {
///     let mut ring = ring::Ring::<3> { at: 2 };
///     ring.next();
///     let window = x.tile([0], [32]);
///     window.store(swish(window.load()) + (ring.at as f32));
/// }
///
/// let device = Device::emulator(Target::Sm80)?;
/// let stream = device.stream()?;
/// let mut x = stream.upload(&[0.0f32, 100.0], [2])?;
/// apply(apply::Args { x: &mut x }).launch(&stream)?;
/// assert_eq!(x.to_vec(&stream)?, [0.0, 100.0]);
/// # Ok::<(), kiln::Error>(())
/// ```
///
/// # What is shared
///
/// A function with its generic parameters; before an inline module, each of its functions, structs (with their methods), traits
/// and constants that is not private. They stay ordinary Rust: documented, checked and linted where they are written. What a
/// device item uses of its own module or of other crates comes with it, private helpers included, if it is `#[device]` too.
///
/// A kernel reaches a device item as Rust does: by `use`, under another name, through re-exports and globs, by a path from
/// `crate`, `super` or a crate's name. The functions of a `#[kernel]` module and of a kernel's own body need no attribute.
///
/// # What is not
///
/// * A type or an `impl` alone: put them in a `#[device] mod`.
/// * Functions that call themselves, also by way of others: kernels have no stack.
/// * Names of the language (`dot`, `zeros`) and of macros that every crate sees (`vec`, `line`, `assert`): refused (K0105). The name
///   of a device item stands for a macro too.
/// * Names that a glob brings inside a kernel's body: `use` them one by one there, or outside.
/// * The address of a tensor, taken by a device function of which the kernel shows nothing: pass `x.ptr()` (K0602).
/// * More than about 110 device items in one kernel: a module counts as often as its items are named. `#![recursion_limit = "256"]` allows more.
///
/// # Errors
///
/// A mistake inside a device function that only some kernel's types bring out is shown where that kernel names the function, with the
/// place in the library:
///
/// ```text
/// error: [K0204] `exp` is not defined on `i32`
///           required  element type floats
///           actual    element type `i32`
///           ::: library/src/lib.rs:19:9  in this device item
///           ::: src/main.rs:9:13  called here as `silu`
///           help      x.cast::<f32>().exp()
///  --> src/main.rs:9:13
/// ```
///
/// A name that nothing in sight declares, and a function without the attribute, are rustc's to report: ``cannot find macro
/// `silu` in this scope``, with a note where it is a function and no macro.
pub use kernel_macros::device;
pub use kernel_runtime::{
    Actual, Argument, Device, DevicePtr, DeviceTensor, DriverError, DriverVersion, Element, Error,
    Event, Fact, Grid, GridFault, Image, IntoArgument, IntoGrid, Launch, MapPlace, MapRule,
    ParamKind, Properties, Result, Stream, Target, TensorView, TensorViewMut, UnsafeLaunch,
    Variant, persistent,
};
#[cfg(feature = "emulator")]
pub use kernel_runtime::{Fault, Report};

/// What kernels and the programs that launch them are written with: `use kiln::prelude::*`.
pub mod prelude {
    pub use crate::lang::{
        Address, Array, Barrier, Barriers, Bits, Cast, CopyDestination, CopySource, Copying, Float,
        Int, Layout, Matrix, NamedBarrier, Number, Operand, Partition, PartitionBuilder, Ptr,
        Scalar, Shape, Shared, Tensor, TensorMap, TensorMapMut, TensorMut, Tile, Tmem, View,
        ViewMut, arange, array, atomic, barrier, barriers, bf16, block_id, blocked, bulk, cdiv,
        cluster, copy_async, copy_async_commit, copy_async_wait, copy_async_wait_all,
        device_assert, dot, dot_operand, dot_tf32, e2m1x2, e4m3, e5m2, f16, fence_async, fma, full,
        grid_dependency_wait, grid_dim, join, launch_dependents, linear, load, load_masked,
        maximum, minimum, mma, named_barrier, num_blocks, num_warps, partition, pipeline, range,
        row_major, select, shared, shared_linear, slice, sm_80, sm_90a, sm_100a, store,
        store_masked, swizzle, swizzled, sync, target, tcgen05, tma, tmem, tmem_block, tmem_load,
        ue8m0, unroll, warp_specialize, wgmma, zeros,
    };
    pub use crate::{layout, ptx};
    pub use kernel_macros::{device, kernel};
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
    pub use kernel_macros::{device_finish, kernel_finish};
    pub use kernel_runtime::*;
}

/// The README's kernel is compiled and run as it stands there.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
