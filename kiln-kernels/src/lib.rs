#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

#[cfg(any(feature = "grouped", feature = "matmul", feature = "pointwise"))]
mod activation;
mod element;
mod shape;

#[cfg(any(feature = "grouped", feature = "matmul", feature = "pointwise"))]
pub use activation::Activation;
pub use element::{Half, Real};

#[cfg(feature = "attention")]
pub mod attention;
#[cfg(feature = "embedding")]
pub mod embedding;
#[cfg(feature = "grouped")]
pub mod grouped;
#[cfg(feature = "matmul")]
pub mod matmul;
#[cfg(feature = "pointwise")]
pub mod pointwise;
#[cfg(feature = "rows")]
pub mod rows;
