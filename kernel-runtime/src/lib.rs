//! Devices, streams, typed tensors and safe launches.
//!
//! A program chooses a [`Device`], makes a [`Stream`] on it, puts data into [`DeviceTensor`]s, and launches kernels
//! with them. The device is an NVIDIA GPU (feature `cuda`; the driver's library is loaded at run time, so programs
//! start without one) or Kiln's emulator of a GPU on the CPU (feature `emulator`); the program is the same.
//!
//! ```
//! # #[cfg(feature = "emulator")]
//! # fn main() -> kernel_runtime::Result<()> {
//! use kernel_runtime::{Device, Target};
//!
//! let device = Device::emulator(Target::Sm80)?;
//! let stream = device.stream()?;
//! let a = stream.upload(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3])?;
//! assert_eq!(a.transpose().to_vec(&stream)?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "emulator"))]
//! # fn main() {}
//! ```
//!
//! The compiler generates an `Image` for each kernel instance and target, and a function that makes a launch of it with
//! arguments. [`Launch::launch`] checks what depends on values before anything reaches the device, so safe code cannot
//! make a kernel read or write outside its arguments. Work on a GPU is asynchronous: memory that a pending kernel uses
//! stays allocated, and a use on one stream waits for the uses on others that it depends on.
//!
//! Kernels for Hopper copy tiles through tensor maps, which describe a tensor to the hardware. A launch computes the
//! maps from the arguments and checks each rule that the driver would report with a single error code ([`MapRule`]).
//! The device keeps the maps, so that the next launch with the same tensor finds them. Blocks that work together are
//! launched in clusters, and a kernel may start while the previous one ends.
//!
//! The modules, in reading order: `image` (compiled code), `formats`, `dtype` and `element`, `tensor` and
//! `buffer` (data), `tensor_map`, `stream`, `foreign`, `any`, `pinned` and `graph` (other libraries, recorded work),
//! `comm` (several devices), `device`, `argument`, `grid`, `resources`, `launch`, `profile` and `instance` (launching), `back_end`
//! with `cuda` and `emulator`, `error`.

#![deny(unsafe_code)]

mod image;

pub mod formats;

mod dtype;
mod element;

mod tensor;

mod tensor_map;

mod buffer;

mod stream;

#[expect(unsafe_code, reason = "what another library says of its memory has to be believed")]
mod foreign;

#[expect(unsafe_code, reason = "what another library says of its memory has to be believed")]
mod any;

#[expect(unsafe_code, reason = "the device copies to it while nobody looks")]
mod pinned;

mod graph;

pub mod comm;

mod device;

mod argument;

mod grid;

mod resources;

#[expect(unsafe_code, reason = "a kernel with raw pointers is launched by an unsafe call")]
mod launch;

mod profile;

mod instance;

mod back_end;

#[cfg(feature = "cuda")]
#[expect(unsafe_code, reason = "the driver's interface is C")]
mod cuda;

#[cfg(feature = "emulator")]
mod emulator;

mod error;

/// The driver's interface that the launches use.
#[cfg(feature = "driver-bindgen")]
#[doc(hidden)]
pub use ::cudarc::driver::sys as driver_sys;

pub use any::{AnyTensor, dlpack};
#[doc(hidden)]
pub use argument::{
    __ABSENT, __are_absent, __array_of, __each, __given, __name_of, __option_of, __pointer_of,
    __scalar_of, __tensor_of, __tensor_within,
};
pub use argument::{
    Argument, DevicePtr, IntoArgument, TensorArgument, TensorArgumentMut, TensorRef, TensorRefMut,
};
pub use comm::{Comm, ReduceOp, Rendezvous};
#[cfg(feature = "cuda")]
pub use cuda::interop as cudarc;
pub use device::{Device, MemoryUse, Properties};
pub use dtype::{Dtype, NamedType};
pub use element::Element;
pub use error::{Actual, CommError, DriverError, DriverVersion, Error, MapPlace, MapRule, Result};
pub use formats::*;
pub use graph::Graph;
#[doc(hidden)]
pub use grid::checked as __checked;
pub use grid::{Grid, GridFault, IntoGrid, cdiv, persistent};
#[doc(hidden)]
pub use image::{
    Cubin, Fill, Image, MapDim, MapExtent, MapInfo, MapPlaces, MapStride, NamedMemory, NamedWarps,
    Names, ParamInfo, Variant,
};
pub use image::{Fact, ParamKind, Target};
#[doc(hidden)]
pub use image::{ReportText, Reports, Stamp, Stamps, Values};
pub use instance::Instance;
#[doc(hidden)]
pub use instance::{__GridOf, __find, __find_values};
#[cfg(feature = "emulator")]
pub use kernel_emulator::{Fault, Report};
pub use launch::{
    __launch, __launch_of, __launch_unsafe, __launch_unsafe_of, __refused, __refused_unsafe,
    Launch, LaunchOfRawAddresses,
};
pub use pinned::{Pinned, PinnedMut, PinnedRef};
pub use resources::Resources;
pub use stream::{Event, Stream};
pub use tensor::{DeviceTensor, TensorView, TensorViewMut};
