//! The kernels, on the emulator of each target that they are compiled for, or on the device that `KILN_DEVICE` names.

#[cfg(feature = "attention")]
mod attention;
#[cfg(feature = "matmul")]
mod matmul;
mod support;
