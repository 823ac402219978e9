//! Draws of tokens.

use kiln::{TensorArgument, TensorArgumentMut, prelude::*};

use crate::{Real, shape::require};

mod kernel;

use kernel::tokens as kernels;

/// Which tokens may be drawn.
///
/// A token may be drawn if no cut excludes it. The cuts are applied in the order of the fields, each to what those before it leave. Tokens
/// with the same score are cut off together or not at all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    /// What scores are divided by. 0 takes the greatest score, of equal ones the first; so do numbers below 0 and NaN.
    pub temperature: f32,
    /// Excludes tokens whose probability is below this share of the greatest one: those below `max + temperature * ln(min_p)`. 0 excludes
    /// none.
    pub min_p: f32,
    /// Excludes tokens that have so many with greater scores. 0 excludes none.
    pub top_k: usize,
    /// Excludes tokens if those with greater scores have so much of the probability of all that are left. 1 excludes none. The token
    /// with the greatest score always stays.
    pub top_p: f32,
}

impl Default for Cut {
    /// The softmax of the scores, which excludes no token.
    fn default() -> Cut {
        Cut { temperature: 1.0, min_p: 0.0, top_k: 0, top_p: 1.0 }
    }
}

/// The random numbers of draws: the same numbers give the same tokens, on every device.
///
/// The word of token `column` of row `row` is that of the counter `row * vocabulary.div_ceil(4) + column / 4` of
/// `Philox::new(seed).stream(offset)`, of which it takes word `column % 4`. With `u = (word + 1/2) / 2^32`, its noise is
/// `-ln(-ln(1 - u))`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed {
    /// The seed of all draws.
    pub seed: u64,
    /// What tells draws of one seed apart: the number of the step, say.
    pub offset: u64,
}

/// A [`Cut`] for each row, and a seed: the fields have the shape `[rows]`.
///
/// Rows draw by their own seeds wherever they are in a batch: the word of a token is that of row 0 with this seed.
#[derive(Clone, Copy)]
pub struct Cuts<'a> {
    /// See [`Cut::temperature`].
    pub temperature: &'a dyn TensorArgument<f32, 1>,
    /// See [`Cut::min_p`].
    pub min_p: &'a dyn TensorArgument<f32, 1>,
    /// See [`Cut::top_k`]; numbers below 1 exclude none.
    pub top_k: &'a dyn TensorArgument<i32, 1>,
    /// See [`Cut::top_p`].
    pub top_p: &'a dyn TensorArgument<f32, 1>,
    /// See [`Seed::seed`].
    pub seed: &'a dyn TensorArgument<u64, 1>,
}

impl std::fmt::Debug for Cuts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cuts").finish_non_exhaustive()
    }
}

/// Draws a token for each row: `logits` has the shape `[rows, vocabulary]`, `tokens` the shape `[rows]`.
///
/// A score of NaN counts as `-inf`, which is never drawn; a row of these alone gives -1. If a score is `+inf`, it is drawn, of
/// several one of them. An infinite temperature makes all tokens that are left equally likely.
///
/// # Errors
/// [`Error::Shape`] for extents that do not fit together and for more than 2^24 columns, those of the launch.
pub fn sample<T: Real>(
    stream: &Stream,
    cut: Cut,
    Seed { seed, offset }: Seed,
    logits: &impl TensorArgument<T, 2>,
    tokens: &mut impl TensorArgumentMut<i32, 1>,
) -> Result<()> {
    // The same code draws by the cuts of rows, of which there are none.
    let (none, top_k, seeds) = (&stream.empty([0])?, &stream.empty([0])?, &stream.empty([0])?);
    let cuts = Cuts { temperature: none, min_p: none, top_k, top_p: none, seed: seeds };
    draw(stream, cut, cuts, Seed { seed, offset }, logits, tokens)
}

/// Draws a token for each row, like [`sample`], with a cut and a seed of its own.
///
/// # Errors
/// Those of [`sample`].
pub fn sample_rows<T: Real>(
    stream: &Stream,
    cuts: Cuts<'_>,
    offset: u64,
    logits: &impl TensorArgument<T, 2>,
    tokens: &mut impl TensorArgumentMut<i32, 1>,
) -> Result<()> {
    let [rows, _] = logits.tensor()?.shape();
    let Cuts { temperature, min_p, top_k, top_p, seed } = &cuts;
    for shape in [
        temperature.tensor()?.shape(),
        min_p.tensor()?.shape(),
        top_k.tensor()?.shape(),
        top_p.tensor()?.shape(),
        seed.tensor()?.shape(),
    ] {
        require("sample_rows, of cuts", [rows], shape)?;
    }
    draw(stream, Cut::default(), cuts, Seed { seed: 0, offset }, logits, tokens)
}

fn draw<T: Real>(
    stream: &Stream,
    cut: Cut,
    cuts: Cuts<'_>,
    Seed { seed, offset }: Seed,
    logits: &impl TensorArgument<T, 2>,
    tokens: &mut impl TensorArgumentMut<i32, 1>,
) -> Result<()> {
    let [rows, columns] = logits.tensor()?.shape();
    // Counts are sums in f32.
    require("sample, of logits", [rows, columns.min(1 << 24)], [rows, columns])?;
    require("sample, of tokens", [rows], tokens.tensor_mut()?.shape())?;
    let of_rows = kernels::CutsArgs {
        temperature: cuts.temperature,
        min_p: cuts.min_p,
        top_k: cuts.top_k,
        top_p: cuts.top_p,
        seed: cuts.seed,
    };
    let Cut { temperature, min_p, top_k, top_p } = cut;
    let top_k = i32::try_from(top_k).unwrap_or(i32::MAX);
    kernels::draw::find(|i| i.T == Dtype::of::<T>())?
        .with(kernels::draw::Args {
            logits,
            temperature,
            min_p,
            top_k,
            top_p,
            seed,
            offset,
            cuts: of_rows,
            tokens,
        })
        .launch(stream)
}
