#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

#[cfg(feature = "matmul")]
pub mod matmul;
