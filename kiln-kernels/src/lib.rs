#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

#[cfg(any(feature = "grouped", feature = "matmul", feature = "pointwise"))]
mod activation;
mod element;
#[cfg(any(feature = "routing", feature = "sampling"))]
mod extreme;
#[cfg(any(feature = "routing", feature = "sampling"))]
mod order;
#[cfg(any(feature = "grouped", feature = "matmul"))]
mod promoted;
#[cfg(any(feature = "attention", feature = "matmul", feature = "rows", feature = "sampling"))]
mod scratch;
mod shape;
#[cfg(feature = "matmul")]
mod shares;

#[cfg(any(feature = "grouped", feature = "matmul", feature = "pointwise"))]
pub use activation::Activation;
pub use element::{Float8, Half, Operand, Real};

#[cfg(feature = "attention")]
pub mod attention;
#[cfg(feature = "embedding")]
pub mod embedding;
#[cfg(feature = "grouped")]
pub mod grouped;
#[cfg(feature = "losses")]
pub mod losses;
#[cfg(feature = "matmul")]
pub mod matmul;
#[cfg(feature = "pointwise")]
pub mod pointwise;
#[cfg(feature = "quantized")]
pub mod quantized;
#[cfg(feature = "routing")]
pub mod routing;
#[cfg(feature = "rows")]
pub mod rows;
#[cfg(feature = "sampling")]
pub mod sampling;
