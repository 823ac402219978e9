//! Kiln: kernels for GPUs, written in Rust over tiles and compiled by `cargo build`.
//!
//! `#[kernel]` compiles a function to PTX while the crate is built, and embeds the PTX in the
//! binary. The function's name then makes typed launches, on an NVIDIA GPU or on Kiln's own
//! emulator. The emulator runs the same PTX on the CPU, and reports races on shared and global memory,
//! accesses out of bounds and other faults with the kernel's line. Building and testing need only
//! cargo; running needs only the driver.
//!
//! Where to read on:
//!
//! * [`lang`] is the reference of the language: everything that a kernel's body can use, with its layouts, PTX and
//!   [errors](lang#errors);
//! * [`random`] makes random numbers from counters, in kernels and on the host.
//! * [`sparse`] compresses matrices for [`lang::dot_sparse`], [`lang::wgmma::mma_sparse`] and [`lang::tcgen05::mma_sparse`] on the host;
//! * [`sched`] and [`Ring`] are device code of this crate: which tiles a block computes, and its place in a ring of buffers;
//! * [`Device`], [`Stream`] and [`DeviceTensor`] are the host's side: memory and order of
//!   execution; [`Graph`] records work, and the host does not wait for copies of [`Pinned`] memory;
//! * [`Stream::from_raw`], [`DeviceTensor::from_raw`], [`dlpack`] and the module `cudarc` use streams and memory of other
//!   libraries in place, and give Kiln's to them;
//! * [`Launch`] and [`LaunchOfRawAddresses`] are what a call by a kernel's name returns;
//! * [`prelude`] has all of it, for `use kiln::prelude::*`.
//!
//! # Features
//!
//! `cuda` and `emulator`, both on by default, launch kernels on a GPU and on the emulator. The
//! driver's library is loaded at run time, so a program with `cuda` also starts on a machine without
//! a GPU. `driver-bindgen`, off by default, makes the driver's bindings from the installed `cuda.h`,
//! which takes libclang while building; Kiln's own launches do not need it.

#![forbid(unsafe_code)]

// Device code of this crate uses the name that other crates use.
extern crate self as kiln;

pub mod lang;
pub mod random;
mod ring;
pub mod sched;
pub mod sparse;

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
/// | `target = sm_80`, `target = [sm_80, sm_90a]` | what to compile for; required. `sm_80` code runs on every later GPU, `sm_100f` code on B200 and B300 |
/// | `warps = 4`, `warps = W` | warps of a block, a power of two up to 32; 4 if left out. May name a generic parameter |
/// | `grid = cdiv(out.dim(0), N)`, `grid = [x, y]` | how many blocks to start, a host expression over the arguments and generic parameters, in `i32` as they are; what does not fit is [`Error::GridExpression`] at the launch. Without it the caller gives [`Launch::grid`] |
/// | `instances(N = [64, 128], (M, W) = [(64, 4), (128, 8)])` | the values of the generic parameters; every combination of the lists is compiled |
/// | `debug = always` | what the kernel [prints and asserts](lang#while-it-runs) is there in release builds too |
/// | `crate = path` | where this crate is, if not under the name that the package's Cargo.toml gives it (a re-export, say); the `#[kernel]` of a module and `#[device]` take it too |
///
/// Parameters are tensors (`Tensor<T, R>` read, `TensorMut<T, R>` written), raw pointers (`Ptr<T>`) and scalars; an argument for an
/// `Option` of one of these [may be absent](lang#parameters). Facts about them make the code faster, and the launch checks them: `#[multiple_of(16)] n: i32`, `#[stride(_, 1)] x: Tensor<f32, 2>`.
///
/// # What it generates
///
/// For a kernel `name`:
///
/// | item | what it is |
/// |---|---|
/// | `name::<..>(name::Args { .. })` | the [`Launch`] of an instance ([`LaunchOfRawAddresses`] if the kernel works with raw addresses) |
/// | `name::Args` | a field for each parameter: scalars by value, `&` for a tensor that is read, `&mut` for one that is written; views and other [`TensorArgument`]s likewise; `Some(..)` of these or `None` for an `Option` |
/// | `name::instances()`, `name::INSTANCES` | all compiled instances, as `name::Instance`s |
/// | `name::Instance` | a choice of the generic parameters: a public field for each of them, and the methods of [`Instance`] |
/// | `instance.with(name::Args { .. })` | the launch of an instance that is chosen at run time |
/// | `name::find(\|i\| ..)`, `name::Values { .. }.find()` | the instance with some values, or [`Error::NoInstance`], which lists the instances |
/// | `name::Instances: name::Include<..>` | the bound of generic code that launches the kernel |
/// | `name::TARGETS` | what the kernel was compiled for |
///
/// The documentation of the function also lists parameters, instances, targets and grid, after what you write there.
///
/// Each instance is compiled twice: for contiguous, 16-byte aligned tensors, and for all tensors; the launch takes the variant that
/// fits. A third variant is for extents with which a TMA copy needs fewer instructions, such as whole columns of its swizzle.
///
/// Before a module, `#[kernel]` compiles the functions in it that are themselves marked `#[kernel(..)]`. They may use the functions,
/// structs, traits and constants beside them.
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
///
/// # Choosing an instance when the program runs
///
/// The fields of an instance have the names of the generic parameters: constants as values, element types as [`Dtype`], other types as
/// [`NamedType`]. If the types of an instance are not those of the arguments, the launch returns an error that lists the instances that fit.
///
/// ```
/// use kiln::prelude::*;
///
/// #[kernel(target = sm_80, warps = W, grid = cdiv(out.dim(0), N), instances(T = [f16, f32], (N, W) = [(128, 1), (512, 4)]))]
/// fn add<T: Float, const N: i32, const W: i32>(x: Tensor<T, 1>, out: TensorMut<T, 1>) {
///     let at = [block_id(0) * N];
///     out.tile(at, [N]).store(out.tile(at, [N]).load() + x.tile(at, [N]).load());
/// }
///
/// let stream = Device::emulator(Target::Sm80)?.stream()?;
/// let x = stream.full([1000], 1.0f32)?;
/// let mut out = stream.zeros([1000])?;
/// // The widest one of this type.
/// let widest = add::instances().filter(|i| i.T == Dtype::F32).max_by_key(|i| i.N).expect("there are some");
/// assert_eq!(widest.to_string(), "T = f32, N = 512, W = 4");
/// widest.with(add::Args { x: &x, out: &mut out }).launch(&stream)?;
/// // A part of each tensor.
/// let narrow = add::find(|i| i.T == Dtype::F32 && i.W == 1)?;
/// narrow.with(add::Args { x: &x.slice(0, 0..500)?, out: &mut out.slice_mut(0, 500..1000)? }).launch(&stream)?;
/// assert_eq!(out.slice(0, 499..501)?.to_vec(&stream)?, [1.0, 2.0]);
///
/// let error = add::Values { T: Dtype::Bf16, N: 128, W: 4 }.find().expect_err("no such instance");
/// assert_eq!(
///     error.to_string(),
///     "`add` has no instance with T = bf16, N = 128, W = 4; it has \
///      T = f16, N = 128, W = 1; T = f16, N = 512, W = 4; T = f32, N = 128, W = 1; T = f32, N = 512, W = 4"
/// );
/// # Ok::<(), kiln::Error>(())
/// ```
///
/// # Launching from generic code
///
/// A function with the generic parameters of a kernel requires with a bound that the instance exists. Calling it with other types is a
/// compile error that names the instances.
///
/// ```
/// # use kiln::prelude::*;
/// #[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), N), instances(T = [f32, i32], N = [64, 128]))]
/// fn scale<T: Number, const N: i32>(x: TensorMut<T, 1>, by: T) {
///     let window = x.tile([block_id(0) * N], [N]);
///     window.store(window.load() * by);
/// }
///
/// /// x · by · by
/// fn twice<T: Element, const N: i32>(stream: &Stream, x: &mut DeviceTensor<T, 1>, by: T) -> Result<()>
/// where
///     scale::Instances: scale::Include<T, N>,
/// {
///     scale::<T, N>(scale::Args { x, by }).launch(stream)?;
///     scale::<T, N>(scale::Args { x, by }).launch(stream)
/// }
///
/// # fn main() -> Result<()> {
/// let stream = Device::emulator(Target::Sm80)?.stream()?;
/// let mut x = stream.upload(&[1, 2, 3], [3])?;
/// twice::<i32, 64>(&stream, &mut x, 10)?;
/// assert_eq!(x.to_vec(&stream)?, [100, 200, 300]);
/// # Ok(())
/// # }
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
/// Before a function: the function with its generic parameters. Before an inline module: each function, struct (with its methods),
/// trait and constant that is not private. They stay ordinary Rust, documented, checked and linted where they are written. Items that
/// a device item uses, from its own module or other crates, come with it if they are `#[device]` too, even private ones.
///
/// A kernel names a device item as in Rust: with `use`, under another name, through re-exports and globs, by a path from `crate`,
/// `super` or a crate's name. Functions in a `#[kernel]` module or in a kernel's body need no attribute.
///
/// # What is not
///
/// * A type or an `impl` alone: put them in a `#[device] mod`.
/// * Functions that call themselves, directly or through others: kernels have no stack.
/// * Names of the language (`dot`, `zeros`) and of macros that every crate sees (`vec`, `line`, `assert`): refused (K0105). A device
///   item defines a macro of the same name.
/// * Names from a glob inside a kernel's body: `use` them one by one there, or outside.
/// * The address of a tensor, taken by a device function where the kernel does not show it: pass `x.ptr()` (K0602).
/// * More than about 110 device items in one kernel: a module counts as often as its items are named. `#![recursion_limit = "256"]` allows more.
///
/// # Errors
///
/// A mistake in a device function may show only with the types of one kernel. The message then points at the function's name in that
/// kernel, with the place in the library:
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
/// rustc reports unknown names and functions without the attribute: ``cannot find macro `silu` in this scope``, with a note if it is a
/// function and not a macro.
pub use kernel_macros::device;
#[cfg(feature = "cuda")]
pub use kernel_runtime::cudarc;
pub use kernel_runtime::{
    Actual, AnyTensor, Argument, Comm, CommError, Device, DevicePtr, DeviceTensor, DriverError,
    DriverVersion, Dtype, Element, Error, Event, Fact, Graph, Grid, GridFault, Instance,
    IntoArgument, IntoGrid, Launch, LaunchOfRawAddresses, MapPlace, MapRule, MemoryUse, NamedType,
    ParamKind, Pinned, PinnedMut, PinnedRef, Properties, ReduceOp, Rendezvous, Resources, Result,
    Stream, Target, TensorArgument, TensorArgumentMut, TensorRef, TensorRefMut, TensorView,
    TensorViewMut, comm, dlpack, persistent,
};
#[cfg(feature = "emulator")]
pub use kernel_runtime::{Fault, Report};
#[doc(hidden)]
pub use kernel_runtime::{Image, Variant};

/// Everything for writing and launching kernels: `use kiln::prelude::*`.
pub mod prelude {
    pub use crate::lang::{
        Address, Array, Barrier, Barriers, Bits, Cast, CopyDestination, CopySource, Copying, Float,
        Int, Layout, Matrix, NamedBarrier, Number, Operand, Partition, PartitionBuilder, Ptr,
        Scalar, Shape, Shared, Tensor, TensorMap, TensorMapMut, TensorMut, Tile, Tiles, Tmem, View,
        ViewMut, arange, array, atomic, barrier, barriers, bf16, block_id, blocked, bulk, cdiv,
        cluster, copy_async, copy_async_commit, copy_async_masked, copy_async_wait,
        copy_async_wait_all, device_assert, dot, dot_operand, dot_scaled, dot_sparse,
        dot_sparse_tf32, dot_tf32, f16, fence_async, fma, full, grid_dependency_wait, grid_dim,
        join, launch_dependents, linear, load, load_masked, maximum, minimum, mma, named_barrier,
        num_blocks, num_warps, partition, pipeline, range, row_major, select, shared,
        shared_linear, slice, store, store_masked, swizzle, swizzled, sync, tcgen05, tma, tmem,
        tmem_block, tmem_load, unroll, warp_specialize, wgmma, zeros,
    };
    // The targets, by name.
    pub use crate::lang::target::*;
    pub use crate::{layout, ptx, stamp};
    pub use kernel_macros::{device, kernel};
    pub use kernel_runtime::formats::*;
    pub use kernel_runtime::{
        AnyTensor, Device, DevicePtr, DeviceTensor, Dtype, Element, Error, Event, Graph, Grid,
        Instance as _, IntoArgument, Launch, LaunchOfRawAddresses, NamedType, Pinned, Result,
        Stream, Target, TensorView, TensorViewMut, persistent,
    };
}

/// Used by the code that `#[kernel]` generates. Do not use it by hand: it changes without notice.
#[doc(hidden)]
pub mod __private {
    pub use half::{bf16, f16};
    pub use kernel_macros::{device_finish, kernel_finish};
    pub use kernel_runtime::*;
}

/// Compiles and runs the README's kernel.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

/// Compiles the kernel of the page about conversions.
#[cfg(doctest)]
#[doc = include_str!("../docs/conversions.md")]
mod conversions {}

/// Compiles the programs of `docs`.
#[cfg(all(doctest, feature = "cuda"))]
#[doc = include_str!("../docs/interop.md")]
mod interop {}
