//! Experts of tokens: which ones they are, the permutation of tokens to experts, and rows along it; counts of values, running sums, and
//! positions of extremes.
//!
//! [`top_k`] chooses experts by scores, and gives their weights. [`Permutation`] counts the tokens of each expert and gives every choice a
//! row, so that the rows of an expert are adjacent. [`permute`] brings the rows of tokens there, and [`unpermute`] adds what the experts
//! make of them. All of it stays on the device, and nothing waits for the host. [`PrefixSums`] keep the memory that long running sums take.
//!
//! ```
//! use kiln::prelude::*;
//! use kiln_kernels::routing::{self, Permutation, TopK, Weights, permute, top_k, unpermute};
//!
//! let stream = Device::best_for(routing::TARGETS)?.stream()?;
//! let scores = stream.upload(&[0.0f32, 3.0, 1.0, 2.0, 0.0, -1.0], [2, 3])?; // 2 tokens, 3 experts
//! let (mut weights, mut experts) = (stream.zeros([2, 2])?, stream.zeros([2, 2])?);
//! let options = TopK { weights: Weights::SoftmaxOfChosen, scale: 1.0 };
//! top_k(&stream, options, &scores, None, &mut weights, &mut experts)?;
//! assert_eq!(experts.to_vec(&stream)?, [1, 2, 0, 1]);
//!
//! let permutation = Permutation::new(&stream, &experts, 3, 1)?;
//! assert_eq!(permutation.counts().to_vec(&stream)?, [1, 2, 1]);
//! assert_eq!(permutation.offsets().to_vec(&stream)?, [0, 1, 3, 4]);
//!
//! let x = stream.upload(&[1.0f32, 1.0, 5.0, 5.0], [2, 2])?;
//! let mut of_experts = stream.zeros([permutation.capacity(), 2])?;
//! permute(&stream, &permutation, &x, None, &mut of_experts)?;
//! assert_eq!(of_experts.to_vec(&stream)?, [5.0, 5.0, 1.0, 1.0, 5.0, 5.0, 1.0, 1.0]);
//! let mut out = stream.zeros([2, 2])?;
//! unpermute(&stream, &permutation, &of_experts, Some(&weights), &mut out)?;
//! for (out, x) in out.to_vec(&stream)?.into_iter().zip([1.0, 1.0, 5.0, 5.0]) {
//!     assert!((out - x).abs() < 1e-5); // the weights of a token have the sum 1
//! }
//! # Ok::<(), kiln::Error>(())
//! ```
//!
//! # Idea
//!
//! The rows of one expert are in the order of the tokens, in every run. A block takes 2048 choices and counts those of each expert;
//! running sums of these counts say where the rows of each block and expert begin. The block then sorts its choices by expert: the
//! place within a run of equal experts is what is left to add.
//!
//! # Schedule
//!
//! A block of [`top_k`] has as many rows as its warps hold in registers, and finds the greatest scores by a bitonic network. Rows of
//! experts are copied 2048 columns at a time, 16 bytes by each thread; [`permute`] reads each row of a token once, and [`unpermute`]
//! has the rows of eight experts in flight. Of [`argmax`] and [`argmin`], a block reads a row once, tile after tile.
//! Rows that do not begin at multiples of 16 bytes are read by element, which is slower.
//!
//! Of running sums, a thread adds eight neighbours, a warp the sums of its threads, and each warp those of all warps. A block has 32 KiB of
//! a long row in shared memory, publishes their sum, and waits for the sums of those before: of parts in the same group of 256, and of
//! earlier groups. Blocks take parts by counting, in order, so that whoever waits finds that those before have begun. This is the
//! look-back of Merrill and Garland ("Single-pass Parallel Prefix Scan with Decoupled Look-back", 2016), but for what is added: there a
//! block adds whatever is published when it looks, here the same numbers in every run.
//!
//! # Floor
//!
//! Of rows along the permutation, the bytes of `k` rows for each token and of one more. Of running sums, two times the bytes of the
//! tensor. Of the others, the bytes of the operands once.

use kiln::prelude::*;

mod histogram;
mod permutation;
mod prefix_sum;
mod rows;
mod top_k;

pub use crate::extreme::{argmax, argmin};
pub use histogram::histogram;
pub use permutation::Permutation;
pub use prefix_sum::{Part, PrefixSums, Summand, prefix_sum};
pub use rows::{permute, unpermute, unpermute_backward};
pub use top_k::{TopK, Weights, top_k, top_k_backward};

/// What the kernels are compiled for.
pub const TARGETS: &[Target] = &[Target::Sm80];
