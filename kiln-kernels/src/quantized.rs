//! Products of quantised numbers: weights of four bits, FP8 numbers with scales of blocks or of rows, and integers of eight bits.
//!
//! [`QuantizedMatmul`] computes `c = a · bᵀ`, where `a` has `m` rows and `b`, the weights, `n` rows of `k` numbers.
//!
//! | | `a` | `b` | scales | `c` |
//! |---|---|---|---|---|
//! | [`int4`](QuantizedMatmul::int4) | `bf16` | [`Int4Weights`] | of groups along `k`, with zero points or without | `bf16` |
//! | [`float8`](QuantizedMatmul::float8) | `e4m3` | `e4m3` | of 128 neighbours and of squares of 128, or of rows | `bf16` |
//! | [`int8`](QuantizedMatmul::int8) | `i8` | `i8` | of rows | `bf16`, `f16`, `f32` |
//! | [`int8_sums`](QuantizedMatmul::int8_sums) | `i8` | `i8` | none | `i32` |
//!
//! FP8 tensors with one scale each are multiplied by [`Matmul::product_float8`] too, which has more tiles to choose from, batches and an
//! epilogue, and takes GPUs with FP8. The rows of experts are multiplied by `Grouped::product_float8`.
//!
//! # Idea
//!
//! Few rows take the time in which memory delivers the weights. So weights stay as they are until they are in registers, and become bf16
//! (or f16, of FP8) there. The tensor cores multiply with the weights on the left, of which an instruction takes 16 rows, and as few as 8
//! rows of `a` on the right. Which number along `k` is multiplied in which place of an instruction does not matter: each thread takes
//! contiguous bytes of a row of weights, and the same places of `a`. Weights need no other order in memory for that. The sums of a group
//! are multiplied by its scale in f32, which costs less than to multiply each weight, and rounds less.
//!
//! Many rows take the time of the tensor cores. FP8 numbers and integers are multiplied by `wgmma`; it keeps 14 bits of sums of FP8
//! products, so that those of each step of 128 are added in f32, with the scales of blocks. Weights of four bits first become bf16 in
//! memory for [`Matmul`], which takes a small part of the time.
//!
//! # Schedule
//!
//! Few rows: blocks of 128 rows of weights, of which four or eight warps each have a part; three stages of asynchronous copies. If
//! multiprocessors would have more steps otherwise, or none, blocks share `k`. Each stores its sums to scratch memory, and the last one
//! adds them in the order of their shares: results are the same in every run. FP8 of so many rows of weights that each multiprocessor has a
//! block is multiplied by `wgmma` on Hopper, with the weights on the left; two such blocks share a multiprocessor.
//!
//! Many rows: persistent blocks, one warp that loads by TMA, and a warpgroup for each 64 rows of a tile of 128 by 128 (of integers, 128 by
//! 256). While one warpgroup adds sums to those in f32, the other one's product runs. Scales of blocks come to shared memory by a warp of
//! their own, four steps at a time: loads by the warpgroups would take the rate of shared memory that `wgmma` needs.
//!
//! # Floor
//!
//! The larger of `2 m n k` operations at the rate of the tensor cores for the operands (of weights of four bits, that of bf16), and of the
//! bytes of `a`, `b` and `c` at the bandwidth of the memory.

use kiln::prelude::*;

use crate::{matmul::Matmul, scratch::Scratch};

mod bytes;
mod int4;
mod shares;

pub use bytes::{Float8Scales, Scaled};
pub use int4::{Int4Weights, ZeroPoint};

/// Multiplies quantised numbers, and keeps scratch memory from one product to the next.
///
/// A product waits for the one before it, because they share the scratch memory; products on two streams at once take a `QuantizedMatmul`
/// each. A product of the same extents has to have run before one is recorded in a [`capture`](kiln::Device::capture), which cannot
/// allocate.
#[derive(Debug)]
pub struct QuantizedMatmul {
    scratch: Scratch,
    /// Products of numbers.
    dense: Matmul,
    hopper: bool,
    /// Weights as numbers.
    numbers: DeviceTensor<bf16, 1>,
    multiprocessors: usize,
}

impl QuantizedMatmul {
    /// What the kernels are compiled for: GPUs from Ampere on, and Hopper.
    pub const TARGETS: &[Target] = &[Target::Sm80, Target::Sm89, Target::Sm90a];

    /// Products on the device of a stream.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(stream: &Stream) -> Result<QuantizedMatmul> {
        let properties = stream.device().properties();
        QuantizedMatmul::on(stream, properties.multiprocessors as usize)
    }

    /// Products for a part of the device's multiprocessors: the others have other work. Tiles, and shares of `k`, are chosen by their
    /// number.
    ///
    /// # Errors
    /// Those of the device.
    pub fn on(stream: &Stream, multiprocessors: usize) -> Result<QuantizedMatmul> {
        let device = stream.device();
        Ok(QuantizedMatmul {
            scratch: Scratch::new(stream)?,
            dense: Matmul::on(stream, multiprocessors)?,
            hopper: device.runs(Target::Sm90a),
            numbers: stream.empty([0])?,
            multiprocessors,
        })
    }
}

/// Whether rows are contiguous and begin at multiples of 16 bytes, as TMA asks for.
fn begin_at_pieces<T>(x: &DeviceTensor<T, 2>) -> bool {
    let [rows, columns] = x.strides();
    columns == 1 && (rows * size_of::<T>()).is_multiple_of(16) && x.address().is_multiple_of(16)
}
