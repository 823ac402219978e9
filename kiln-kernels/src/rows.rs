//! Operations along the rows of a matrix: softmax, norms and cross-entropy, with their gradients.
//!
//! | result | gradient |
//! |---|---|
//! | [`softmax`], [`log_softmax`] | [`softmax_backward`], [`log_softmax_backward`] |
//! | [`rms_norm`], [`add_rms_norm`] | [`NormGradients::rms_norm`] |
//! | [`layer_norm`], [`add_layer_norm`] | [`NormGradients::layer_norm`] |
//! | [`cross_entropy`] | [`cross_entropy_backward`], [`cross_entropy_backward_in_place`] |
//!
//! Elements are [`bf16`], [`struct@f16`] or [`f32`], and all are computed in f32 and rounded once. Rows have up to 2^30 columns; there may
//! be none, and no rows. Matrices are views with any strides. Accesses are of 16 bytes if rows are contiguous and begin at multiples of 16
//! bytes, and of single elements otherwise: the results are the same except for the order of additions. Results do not change from run to
//! run.
//!
//! ```
//! use kiln::prelude::*;
//! use kiln_kernels::rows;
//!
//! let stream = Device::best_for(rows::TARGETS)?.stream()?;
//! let x = stream.upload(&[1.0f32, 1.0, 1.0, 1.0, 2.0, 2.0], [2, 3])?;
//! let mut y = stream.zeros([2, 3])?;
//! rows::softmax(&stream, &x.slice(1, 0..2)?, &mut y.slice_mut(1, 0..2)?)?;
//! assert_eq!(y.to_vec(&stream)?[..3], [0.5, 0.5, 0.0]);
//! # Ok::<(), kiln::Error>(())
//! ```
//!
//! # Idea
//!
//! A row is read once if it fits the registers of a block, up to 8192 or 16384 columns, or its shared memory: up to 65536 columns of 2
//! bytes and 32768 of 4, half of that for gradients of softmax. Short rows share a block, a warp or less for each. On Hopper the blocks of a
//! cluster keep a row of up to 131072 columns in their shared memory, and tell each other what they have added up. Longer rows are read
//! twice: a first pass keeps sums of the elements that a thread holds itself, so that it has no barrier and loads follow one another.
//! Cross-entropy needs sums alone, and so reads rows of any length once. If logits are a product, the module `losses` does without most of
//! them.
//!
//! Sums of squares are those of distances: from the mean of the row, or from the mean of its first columns if the row is read twice. The
//! gradients compute the sums of the forward pass again, from rows that they read anyway; nothing but the input has to be kept. Only
//! cross-entropy stores a number for each row, without which its gradient would have to read all logits twice.
//!
//! # Schedule
//!
//! A block has as many warps as give a thread 16 or 32 elements. The accesses of a row are all in flight at once, and several blocks of a
//! multiprocessor take turns with loads and stores. Blocks for the gradients of norms are persistent: they copy the next rows to shared
//! memory while they compute, and keep their sums over rows, which are the gradients of weight and bias, in registers. Each block stores
//! its sums once, and a second kernel adds them in the order of the blocks. On Hopper a row of more than 8192 columns is that of a cluster of
//! up to eight such blocks: each has a part of its columns and of the weight, and they send each other their sums once for each row.
//!
//! A copy needs some 32 KiB in flight on each multiprocessor of an H200. Gradients of norms have 64 KiB or more of rows there, in the blocks that
//! it holds at once: two or more up to 8192 columns, with up to 128 registers a thread, and one of 16 warps with two rows ahead beyond, and for
//! layer norms from 4097 columns on. An
//! element of a row of 2048 columns takes 29 instructions, counted in the machine code, of 44 that a multiprocessor executes while its 6 bytes
//! are moved; one of 8192 columns takes 24. Of rows of 32768 columns softmax and norms have three in flight, in blocks of eight warps with up to
//! 80 registers a thread.
//!
//! # Floor
//!
//! The bytes of all operands once, at the bandwidth of a copy. Beyond it are the second reads of the longest rows, as far as the
//! second-level cache does not serve them, and the sums of the persistent blocks, 4 bytes for each column and block. Gradients of norms read
//! rows of more than 8192 columns twice, and a third time for weight and bias; on Hopper those of more than 131072, or 65536 of 4 bytes. Blocks read the weight of long rows from the
//! second-level cache, for every row. Measured shares are in `benches/results/families.md`.

use kiln::prelude::*;

use crate::shape::{extent, require};

pub(crate) mod blocks;
mod cross_entropy;
mod norm;
pub(crate) mod running;
mod softmax;
mod told;

pub use cross_entropy::{
    CrossEntropy, cross_entropy, cross_entropy_backward, cross_entropy_backward_in_place,
};
pub use norm::{NormGradients, add_layer_norm, add_rms_norm, layer_norm, rms_norm};
pub use softmax::{log_softmax, log_softmax_backward, softmax, softmax_backward};

/// What the kernels are compiled for.
pub const TARGETS: &[Target] = &[Target::Sm90a, Target::Sm80];

/// The widest rows: indices of columns and the steps from one tile to the next are `i32`.
const WIDEST: usize = 1 << 30;

/// Whether rows of a matrix fit tiles of `n` columns.
pub(crate) fn holds(n: i32, [_, columns]: [usize; 2]) -> bool {
    columns <= extent(n)
}

/// Whether a block may have so many elements in shared memory, and some more bytes for reductions: a card for workstations has 99 KiB.
fn has_shared<T: Element>(stream: &Stream, elements: i32) -> bool {
    const REDUCTIONS: usize = 4096;
    let most = stream.device().properties().shared_bytes_per_block as usize;
    extent(elements) * T::BYTES + REDUCTIONS <= most
}

/// Whether blocks come in clusters, which keep a row together.
fn has_clusters(stream: &Stream) -> bool {
    stream.device().runs(Target::Sm90a)
}

fn is_empty<const R: usize>(shape: [usize; R]) -> bool {
    shape.contains(&0)
}

pub(crate) fn require_narrow(operation: &'static str, [rows, columns]: [usize; 2]) -> Result<()> {
    require(operation, [rows, columns.min(WIDEST)], [rows, columns])
}
