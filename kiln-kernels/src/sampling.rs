//! Tokens from scores of a vocabulary, and sorted rows.
//!
//! [`greedy`] takes the greatest score of each row, and [`sample`] draws by the softmax of the scores, cut off by [`Cut`].
//! [`sort`] puts whole rows in order; a [`Sorter`] keeps the memory that long rows take.
//!
//! ```
//! use kiln::prelude::*;
//! use kiln_kernels::sampling::{self, Cut, Seed, greedy, sample};
//!
//! let stream = Device::best_for(sampling::TARGETS)?.stream()?;
//! let logits = stream.upload(&[0.0f32, 3.0, 2.5, -1.0, 7.0, 0.0, 1.0, 6.5], [2, 4])?;
//! let mut tokens = stream.zeros([2])?;
//! greedy(&stream, &logits, &mut tokens)?;
//! assert_eq!(tokens.to_vec(&stream)?, [1, 0]);
//!
//! let cut = Cut { temperature: 0.8, top_k: 2, ..Cut::default() };
//! sample(&stream, cut, Seed { seed: 42, offset: 0 }, &logits, &mut tokens)?;
//! let drawn = tokens.to_vec(&stream)?;
//! assert!([1, 2].contains(&drawn[0]) && [0, 3].contains(&drawn[1]));
//! # Ok::<(), kiln::Error>(())
//! ```
//!
//! # Idea
//!
//! What is cut off is below a threshold, so that no row has to be sorted. A pass over the row sums what is above each of three numbers; the
//! threshold is between two of them, and the next pass has numbers between these. Once at most 2048 scores are left, a last pass brings
//! them to shared memory, and what remains of the cut is computed there.
//!
//! A draw is a maximum: the token with the greatest sum of `logit / temperature` and noise of the Gumbel distribution. Its probability is
//! the softmax of what is left, and no sum over the row decides it, so that it is the same on every device.
//!
//! A sorted row is one of words, whose high bits are scores and whose low bits are columns: no two of them are equal, and the order of
//! words is that of a stable sort. A block sorts up to 4096 columns by a bitonic network, of words of 32 bits if scores have 16. Longer
//! rows are runs of 4096 columns, or of 8192 if scores have 16 bits, which are merged in pairs. A block merges to 4096 places: it finds
//! where its words begin and end in both runs, 256 comparisons at a time, and brings them to shared memory. There each thread finds
//! the beginning of its 16 places by bisection, and merges to these. The last merge writes scores and columns.
//!
//! # Schedule
//!
//! A block has a row, 8192 columns at a time; passes after the first one read it from the second-level cache. Of cuts to few tokens there
//! are mostly four passes: the maximum, one or two for the threshold, and the tokens above it. Without a cut, it is one more than the
//! maximum.
//!
//! # Floor
//!
//! The bytes of the scores once. Of sorted rows, the bytes of the operands once up to 4096 columns; beyond it are 16 bytes of each
//! column for each merge, but for the last one.

use kiln::prelude::*;

mod draw;
mod sort;

pub use crate::extreme::argmax as greedy;
pub use draw::{Cut, Cuts, Seed, sample, sample_rows};
pub use sort::{Order, Sorter, sort};

/// What the kernels are compiled for.
pub const TARGETS: &[Target] = &[Target::Sm80];
