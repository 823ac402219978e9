#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod element;

pub use element::Real;

#[cfg(feature = "attention")]
pub mod attention;
#[cfg(feature = "embedding")]
pub mod embedding;

#[cfg(feature = "matmul")]
pub mod matmul;

#[cfg(feature = "pointwise")]
pub mod pointwise;
#[cfg(feature = "rows")]
pub mod rows;
