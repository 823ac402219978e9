#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod element;

pub use element::Real;

#[cfg(feature = "matmul")]
pub mod matmul;

#[cfg(feature = "pointwise")]
pub mod pointwise;
