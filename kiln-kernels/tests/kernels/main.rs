//! The kernels, on the emulator of each target that they are compiled for, or on the device that `KILN_DEVICE` names.

#[cfg(feature = "attention")]
mod attention;
#[cfg(feature = "embedding")]
mod embedding;
#[cfg(feature = "grouped")]
mod grouped;
#[cfg(feature = "losses")]
mod losses;
#[cfg(feature = "matmul")]
mod matmul;
#[cfg(feature = "pointwise")]
mod pointwise;
#[cfg(feature = "quantized")]
mod quantized;
#[cfg(feature = "routing")]
mod routing;
#[cfg(feature = "rows")]
mod rows;
#[cfg(feature = "sampling")]
mod sampling;
mod support;
