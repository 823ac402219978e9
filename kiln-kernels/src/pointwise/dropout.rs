//! Dropout whose mask is computed again instead of kept.

use kiln::{TensorArgument, TensorArgumentMut, prelude::*, random::Philox};

use super::{corner, tile_of};
use crate::{Real, shape::require};

/// Which elements are dropped: a function of these numbers, of the row, the column and the number of columns.
///
/// The words of element `(row, column)` of `columns` are those of the counter `row * columns.div_ceil(8) + column / 8` of
/// `Philox::new(seed).stream(offset)`. It takes the half `column % 8` of them, of which a word has the lower one first, and is dropped if these
/// 16 bits, over 2^16, are below the probability rounded to a multiple of 2^-16.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dropout {
    /// The probability that an element is dropped, in steps of 2^-16: 0 keeps and 1 drops all. Numbers outside count as the nearer of
    /// these, NaN as 0.
    pub probability: f32,
    /// The seed of a training.
    pub seed: u64,
    /// What tells masks of one seed apart: `step * layers + layer`, say.
    pub offset: u64,
}

/// Sets the elements that are dropped to 0, and multiplies the others by `1 / (1 - probability)`, with the rounded probability: what is
/// expected of an element is itself.
///
/// The derivative is the same function of the gradient, with the same [`Dropout`]. What is dropped is 0 even of NaN.
///
/// ```
/// use kiln::prelude::*;
/// use kiln_kernels::pointwise::{self, Dropout, dropout};
///
/// let stream = Device::best_for(pointwise::TARGETS)?.stream()?;
/// let (x, grad) = (stream.full([4, 64], 3.0f32)?, stream.full([4, 64], 1.0f32)?);
/// let (mut out, mut grad_x) = (stream.zeros([4, 64])?, stream.zeros([4, 64])?);
/// let mask = Dropout { probability: 0.5, seed: 42, offset: 7 };
/// dropout(&stream, mask, &x, &mut out)?;
/// dropout(&stream, mask, &grad, &mut grad_x)?;
/// for (y, grad) in out.to_vec(&stream)?.into_iter().zip(grad_x.to_vec(&stream)?) {
///     assert!([(0.0, 0.0), (6.0, 2.0)].contains(&(y, grad)));
/// }
/// # Ok::<(), kiln::Error>(())
/// ```
///
/// # Errors
/// [`Error::Shape`] for different extents, those of launches.
pub fn dropout<T: Real>(
    stream: &Stream,
    dropout: Dropout,
    x: &impl TensorArgument<T, 2>,
    out: &mut impl TensorArgumentMut<T, 2>,
) -> Result<()> {
    let shape = out.tensor_mut()?.shape();
    require("dropout, of x", shape, x.tensor()?.shape())?;
    let Dropout { probability, seed, offset } = dropout;
    let probability = if probability > 0.0 { probability.min(1.0) } else { 0.0 };
    let least: u32 = (probability * CHOICES).round().cast();
    let kept = CHOICES - (probability * CHOICES).round();
    let scale = if kept > 0.0 { CHOICES / kept } else { 0.0 };
    let [rows, columns] = tile_of(shape);
    drop_out::Values { T: Dtype::of::<T>(), R: rows, C: columns }
        .find()?
        .with(drop_out::Args { x, out, least, scale, seed, offset })
        .launch(stream)
}

/// The numbers of 16 bits.
const CHOICES: f32 = 65_536.0;

/// Keeps elements whose 16 bits are at least `least`.
#[kernel(target = sm_80, warps = 4, grid = cdiv(out.dim(0), R) * cdiv(out.dim(1), C),
         instances(T = [bf16, f16, f32], (R, C) = [(1, 2048), (16, 128)]))]
pub(super) fn drop_out<T: Float, const R: i32, const C: i32>(
    x: Tensor<T, 2>,
    out: TensorMut<T, 2>,
    least: u32,
    scale: f32,
    seed: u64,
    offset: u64,
) {
    let [row, column] = corner::<R, C>(out.dim(1));
    let x = x.tile([row, column], [R, C]).load().cast::<f32>();
    // Eight neighbours share the words of one counter.
    let first = (row + arange(0, R)).cast::<u64>() * cdiv(out.dim(1), 8).cast::<u64>();
    let of_row = (column / 8 + arange(0, C / 8)).cast::<u64>();
    let counters = first.expand(1) + of_row.expand(0);
    let (a, b, c, d) = Philox::new(seed).stream(offset).words(counters);
    let words = join(join(a, c), join(b, d)).reshape([R, C / 2]);
    let halves = join(words & 0xffff, words >> 16).reshape([R, C]);
    let kept = select(halves.ge(least), x * scale, 0.0);
    out.tile([row, column], [R, C]).store(kept.cast::<T>());
}
