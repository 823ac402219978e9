//! Rows of a table for tokens, and the gradient of the table.
//!
//! [`embed`] copies row `tokens[i]` of a table to row `i`. [`embed_backward`] adds row `i` of a gradient to row `tokens[i]` of the table's
//! gradient, in f32.
//!
//! ```
//! use kiln::prelude::*;
//! use kiln_kernels::embedding::{self, SortedTokens, Sums, embed, embed_backward};
//!
//! let stream = Device::best_for(embedding::TARGETS)?.stream()?;
//! let table = stream.upload(&[0.0f32, 0.5, 1.0, 1.5, 2.0, 2.5], [3, 2])?;
//! let tokens = stream.upload(&[2, 0, 2], [3])?;
//! let mut out = stream.zeros([3, 2])?;
//! embed(&stream, &tokens, &table, &mut out)?;
//! assert_eq!(out.to_vec(&stream)?, [2.0, 2.5, 0.0, 0.5, 2.0, 2.5]);
//!
//! let (grad, mut grad_table) = (stream.full([3, 2], 1.0f32)?, stream.zeros([3, 2])?);
//! let sorted = SortedTokens::new(&stream, &tokens)?;
//! embed_backward(&stream, Sums::InOrder(&sorted), &grad, &mut grad_table)?;
//! assert_eq!(grad_table.to_vec(&stream)?, [1.0, 1.0, 0.0, 0.0, 2.0, 2.0]);
//! # Ok::<(), kiln::Error>(())
//! ```
//!
//! # Idea
//!
//! Tokens repeat, so that many rows are added to one. [`SortedTokens`] brings the rows of each token together: one block adds all of them,
//! in the order of the tokens, and the sums are the same in every run. A sorted place is a count: of smaller tokens, and of equal ones
//! before. Counting compares all pairs of tokens, which is faster than it sounds up to some 60000 of them: 16384 tokens are 268 million
//! pairs, a few operations each. For more, or if the host has the tokens anyway, [`SortedTokens::of_host`] sorts there.
//!
//! The rows of one token are added by one block, eight at a time. If tokens of padding are many, numbers outside of the vocabulary spare
//! the time that their sum takes.
//!
//! [`Sums::Atomic`] sorts nothing: each block adds its row by atomic operations, in any order.
//!
//! # Floor
//!
//! Two times the bytes of the rows that are copied, at the bandwidth of the memory. Of the gradient, the bytes of the rows that are added,
//! and two times those of the table's rows that change. Measured shares are in `benches/results/families.md`.

use kiln::{TensorArgument, TensorArgumentMut, prelude::*};

use crate::{Real, shape::require};

mod kernel;

use kernel::rows;

/// What the kernels are compiled for.
pub const TARGETS: &[Target] = rows::add_atomic::TARGETS;

/// Copies row `tokens[i]` of `table` to row `i` of `out`: `table` has the shape `[vocabulary, dim]`, `tokens` `[n]` and `out` `[n, dim]`.
///
/// A token that is negative or not below the vocabulary gives zeros. Any strides are possible; rows that are contiguous and begin at
/// multiples of 16 bytes are fastest.
///
/// # Errors
/// [`Error::Shape`] for extents that do not fit together, those of launches.
pub fn embed<T: Real>(
    stream: &Stream,
    tokens: &impl TensorArgument<i32, 1>,
    table: &impl TensorArgument<T, 2>,
    out: &mut impl TensorArgumentMut<T, 2>,
) -> Result<()> {
    let ([count], [_, columns]) = (tokens.tensor()?.shape(), table.tensor()?.shape());
    require("an embedding, of out", [count, columns], out.tensor_mut()?.shape())?;
    // The wider window, unless it clearly goes further beyond the ends of rows.
    let wide = columns.div_ceil(2048) * 8 <= columns.div_ceil(256) * 9 / 8;
    let width = if wide { 2048 } else { 256 };
    rows::take::find(|i| (i.T, i.C) == (Dtype::of::<T>(), width))?
        .with(rows::take::Args { tokens, table, out })
        .launch(stream)
}

/// How [`embed_backward`] adds the rows of equal tokens.
#[derive(Clone, Copy)]
pub enum Sums<'a> {
    /// In the order of the tokens: the sums are the same in every run.
    InOrder(&'a SortedTokens),
    /// By atomic operations in any order, so that sums may differ in their last bits from run to run.
    Atomic(&'a dyn TensorArgument<i32, 1>),
}

impl std::fmt::Debug for Sums<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Sums::InOrder(sorted) => f.debug_tuple("InOrder").field(sorted).finish(),
            Sums::Atomic(_) => f.debug_tuple("Atomic").finish_non_exhaustive(),
        }
    }
}

/// The derivative of [`embed`]: adds row `i` of `grad` to row `tokens[i]` of `grad_table`. `grad` has the shape `[n, dim]`, and
/// `grad_table` the shape `[vocabulary, dim]`.
///
/// Rows of tokens outside of the vocabulary are added to nothing. Other rows of `grad_table` stay as they are, so that gradients of several
/// steps add up; the first one begins with zeros.
///
/// # Errors
/// [`Error::Shape`] for extents that do not fit together, those of launches.
pub fn embed_backward<T: Real>(
    stream: &Stream,
    sums: Sums<'_>,
    grad: &impl TensorArgument<T, 2>,
    grad_table: &mut impl TensorArgumentMut<f32, 2>,
) -> Result<()> {
    let ([count, columns], [vocabulary, dim]) =
        (grad.tensor()?.shape(), grad_table.tensor_mut()?.shape());
    require(
        "the derivative of an embedding, of grad_table",
        [vocabulary, columns],
        [vocabulary, dim],
    )?;
    match sums {
        Sums::InOrder(SortedTokens { tokens, order }) => {
            require("the derivative of an embedding, of tokens", [count], tokens.shape())?;
            rows::add_runs::Values { T: Dtype::of::<T>() }
                .find()?
                .with(rows::add_runs::Args { tokens, order, grad, grad_table })
                .launch(stream)
        }
        Sums::Atomic(tokens) => {
            require(
                "the derivative of an embedding, of tokens",
                [count],
                tokens.tensor()?.shape(),
            )?;
            rows::add_atomic::Values { T: Dtype::of::<T>() }
                .find()?
                .with(rows::add_atomic::Args { tokens, grad, grad_table })
                .launch(stream)
        }
    }
}

/// Tokens in ascending order, equal ones in the order in which they came.
#[derive(Debug)]
pub struct SortedTokens {
    tokens: DeviceTensor<i32, 1>,
    /// Where each of them was.
    order: DeviceTensor<i32, 1>,
}

impl SortedTokens {
    /// Sorts tokens on the device. The time grows with the square of their number, see [above](self#idea).
    ///
    /// # Errors
    /// Those of allocations and launches.
    pub fn new(stream: &Stream, tokens: &impl TensorArgument<i32, 1>) -> Result<SortedTokens> {
        let shape = tokens.tensor()?.shape();
        let mut sorted = SortedTokens { tokens: stream.empty(shape)?, order: stream.empty(shape)? };
        sorted.sort(stream, tokens)?;
        Ok(sorted)
    }

    /// Sorts tokens on the host.
    ///
    /// # Errors
    /// Those of allocations and copies; [`Error::TooLarge`] for more tokens than `i32` counts.
    pub fn of_host(stream: &Stream, tokens: &[i32]) -> Result<SortedTokens> {
        let shape = [tokens.len()];
        let Ok(count) = i32::try_from(tokens.len()) else {
            return Err(Error::TooLarge { shape: shape.to_vec(), dtype: i32::DTYPE });
        };
        let mut pairs: Vec<(i32, i32)> = tokens.iter().copied().zip(0..count).collect();
        pairs.sort_unstable();
        let (tokens, order): (Vec<i32>, Vec<i32>) = pairs.into_iter().unzip();
        Ok(SortedTokens {
            tokens: stream.upload(&tokens, shape)?,
            order: stream.upload(&order, shape)?,
        })
    }

    /// Sorts as many other tokens on the device, in the same memory: what a [`capture`](kiln::Device::capture), which cannot allocate,
    /// records.
    ///
    /// # Errors
    /// [`Error::Shape`] for another number of tokens, those of launches.
    pub fn sort(&mut self, stream: &Stream, tokens: &impl TensorArgument<i32, 1>) -> Result<()> {
        require("a sort, of tokens", self.tokens.shape(), tokens.tensor()?.shape())?;
        let args = rows::sort::Args { tokens, sorted: &mut self.tokens, order: &mut self.order };
        rows::sort(args).launch(stream)
    }
}
