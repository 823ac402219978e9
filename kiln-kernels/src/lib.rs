#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod element;

pub use element::Real;

#[cfg(feature = "attention")]
pub mod attention;
#[cfg(feature = "matmul")]
pub mod matmul;
