//! Devices, streams, typed tensors and safe launches.
//!
//! A program names a [`Device`], makes a [`Stream`] on it, puts data into [`DeviceTensor`]s, and
//! launches kernels with them. The device is an NVIDIA GPU (feature `cuda`; the driver's library is
//! loaded at run time, so programs start without one) or Kiln's emulator of a GPU on the CPU (feature
//! `emulator`); the program is the same.
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
//! Launches come from the code that the compiler generates: an [`Image`] for each kernel instance and
//! target, and a function that pairs it with arguments. [`Launch::launch`] checks what depends on values
//! before anything reaches the device, so that safe code cannot make a kernel read or write outside its
//! arguments. Work is asynchronous on a GPU; memory that a pending kernel uses stays allocated, and a
//! use on one stream waits for the uses on others that it depends on.
//!
//! Kernels for Hopper copy tiles through tensor maps, which describe a tensor to the hardware. A launch computes them from the
//! arguments ([`MapInfo`]), checks in words what the driver would answer with one error code ([`MapRule`]), and keeps them with the
//! device, so that the next launch with the same tensor finds them. Blocks that work together are launched in clusters, and a
//! kernel may start while the one in front of it ends ([`Image`]).
//!
//! The modules, in reading order: `image` (what is compiled), `float8`, `element`, `tensor` and `buffer` (data),
//! `tensor_map`, `stream`, `device`, `argument`, `grid` and `launch` (launching), `back_end` with `cuda` and
//! `emulator`, `error`.

#![deny(unsafe_code)]

mod image;

mod float4;
mod float8;

mod element;

mod tensor;

mod tensor_map;

mod buffer;

mod stream;

mod device;

mod argument;

mod grid;

#[expect(unsafe_code, reason = "a kernel with raw pointers is launched by an unsafe call")]
mod launch;

mod back_end;

#[cfg(feature = "cuda")]
#[expect(unsafe_code, reason = "the driver's interface is C")]
mod cuda;

#[cfg(feature = "emulator")]
mod emulator;

mod error;

/// The driver's interface as the launches here use it.
#[cfg(feature = "driver-bindgen")]
#[doc(hidden)]
pub use cudarc::driver::sys as driver_sys;

#[doc(hidden)]
pub use argument::__tensor_within;
pub use argument::{Argument, DevicePtr, IntoArgument};
pub use device::{Device, Properties};
pub use element::Element;
pub use error::{Actual, DriverError, DriverVersion, Error, MapPlace, MapRule, Result};
pub use float4::{e2m1x2, ue8m0};
pub use float8::{e4m3, e5m2};
#[doc(hidden)]
pub use grid::checked as __checked;
pub use grid::{Grid, GridFault, IntoGrid, cdiv, persistent};
pub use image::{Fact, Image, ParamKind, Target, Variant};
#[doc(hidden)]
pub use image::{Fill, MapDim, MapExtent, MapInfo, MapStride, ParamInfo};
#[cfg(feature = "emulator")]
pub use kernel_emulator::{Fault, Report};
pub use launch::{__launch, __launch_unsafe, Launch, UnsafeLaunch};
pub use stream::{Event, Stream};
pub use tensor::{DeviceTensor, TensorView, TensorViewMut};
