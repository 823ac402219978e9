//! Kernels of single elements: activations and gates, rotary embeddings, dropout, conversions, quantisation, transposition, and steps of
//! `AdamW`.
//!
//! ```
//! use kiln::prelude::*;
//! use kiln_kernels::{
//!     Activation,
//!     pointwise::{self, gate, gate_backward_packed},
//! };
//!
//! let stream = Device::best_for(pointwise::TARGETS)?.stream()?;
//! // SwiGLU of one product, [rows, 2 n]: gates, and then what they multiply.
//! let (rows, n) = (3, 64);
//! let both = stream.full([rows, 2 * n], bf16::ONE)?;
//! let mut out = stream.zeros::<bf16, 2>([rows, n])?;
//! gate(&stream, Activation::Silu, &both.slice(1, 0..n)?, &both.slice(1, n..2 * n)?, &mut out)?;
//! assert!(out.to_vec(&stream)?.iter().all(|x| x.to_f32() == 0.73046875)); // 1 / (1 + exp(-1))
//!
//! // The gradient of both halves, in one tensor too.
//! let (grad, mut grads) = (stream.full([rows, n], bf16::ONE)?, stream.zeros::<bf16, 2>([rows, 2 * n])?);
//! let (both, mut halves) = (both.reshape([rows, 2, n])?, grads.reshape_mut([rows, 2, n])?);
//! gate_backward_packed(&stream, Activation::Silu, &both, &grad, &mut halves)?;
//! assert_eq!(grads.to_vec(&stream)?[n].to_f32(), 0.73046875); // silu(1)
//! # Ok::<(), kiln::Error>(())
//! ```
//!
//! Numbers are computed in f32 and rounded once. Tensors may have any extents, 0 too, and views any strides. Where a tensor is flat, a user
//! reshapes it to one long row.
//!
//! # Schedule
//!
//! A block of 128 threads computes a tile of 2048 elements: a part of one row, or 128 columns of 16 rows if that makes clearly fewer
//! tiles. Each thread reads and writes 16 bytes at a time if rows are contiguous and begin at multiples of 16 bytes, has all its reads in
//! flight before it computes, and reads nothing twice. Where one kernel would compute longer than the memory takes, functions of 16-bit
//! types are as exact as their rounding asks for: a sigmoid of them takes a quarter of the instructions of one of f32.
//!
//! Rows that share a scale stay in the registers of a block up to 16384 elements; longer ones are read a second time, mostly from the
//! second-level cache.
//!
//! # Floor
//!
//! The bytes of all arguments at the bandwidth of the memory. [`Activation::Gelu`](crate::Activation::Gelu) in 16 bits and dropout compute
//! longer than that takes on an H200. Measured shares are in `benches/results/families.md`. Scales of rows, `[rows, 1]`, do not begin at
//! multiples of 16 bytes, which makes [`quantize`] and [`dequantize`] slower than with scales of blocks.

use kiln::prelude::*;

mod activation;
mod adamw;
mod cast;
mod dropout;
mod quantize;
mod rotary;
mod tile;
mod transpose;

pub use activation::{activate, activate_backward, gate, gate_backward, gate_backward_packed};
pub use adamw::{AdamW, GradientOf, Parameter};
pub use cast::cast;
pub use dropout::{Dropout, dropout};
pub use quantize::{Quantized, Scaling, dequantize, quantize};
pub use rotary::{Direction, Pairs, Rotation, rotate, rotate_in_place};
use tile::{corner, tile_of};
pub use transpose::{Moved, transpose};

/// What the kernels are compiled for.
pub const TARGETS: &[Target] = rotary::rotary::TARGETS;

/// What the kernels with numbers of the type [`e4m3`] are compiled for.
pub const FLOAT8_TARGETS: &[Target] = quantize::FLOAT8_TARGETS;
