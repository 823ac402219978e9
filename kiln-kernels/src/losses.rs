//! Cross-entropy of a product: the loss of hidden states through the last layer of a model, without its logits.
//!
//! | result | |
//! |---|---|
//! | [`LinearCrossEntropy::loss`] | the loss of each token |
//! | [`LinearCrossEntropy::gradients`] | and the gradients of hidden states and weights |
//! | [`cross_entropy_in_place`] | loss and gradient of logits that exist |
//!
//! ```
//! use kiln::prelude::*;
//! use kiln_kernels::losses::{LinearCrossEntropy, WeightGradient};
//! use kiln_kernels::rows::CrossEntropy;
//!
//! let stream = Device::best_for(LinearCrossEntropy::<bf16>::TARGETS)?.stream()?;
//! // Two tokens of 8 numbers, and a vocabulary of 4 words.
//! let hidden = stream.full([2, 8], bf16::ONE)?;
//! let weight = stream.zeros([4, 8])?;
//! let targets = stream.upload(&[3, 1], [2])?;
//! let mut losses = LinearCrossEntropy::<bf16>::new(&stream)?;
//! let mut loss = stream.zeros([2])?;
//! losses.loss(&stream, &hidden, &weight, &targets, CrossEntropy::default(), &mut loss)?;
//! assert!(loss.to_vec(&stream)?.iter().all(|loss| (loss - 4f32.ln()).abs() < 1e-6));
//!
//! // The gradients of the mean.
//! let mean = stream.full([2], 0.5)?;
//! let (mut d_hidden, mut d_weight) = (stream.zeros([2, 8])?, stream.zeros([4, 8])?);
//! losses.gradients(
//!     &stream,
//!     &hidden,
//!     &weight,
//!     &targets,
//!     CrossEntropy::default(),
//!     &mean,
//!     &mut loss,
//!     &mut d_hidden,
//!     WeightGradient::Replaced(&mut d_weight),
//! )?;
//! assert_eq!(d_weight.to_vec(&stream)?[0], bf16::from_f32(0.25));
//! # Ok::<(), kiln::Error>(())
//! ```
//!
//! # Idea
//!
//! Logits have an element for each token and word: 2 GiB for 8192 tokens and 128256 words in bf16, and their gradient as much. Here they
//! exist for some tokens at a time (Liger-Kernel's `fused_linear_cross_entropy`). For each such chunk there are three products and one
//! kernel: `logits = hidden · weightᵀ`; the kernel replaces logits by the gradient of the loss; `d_hidden = d_logits · weight`;
//! `d_weight += d_logitsᵀ · hidden`.
//!
//! # Schedule
//!
//! The logits of a chunk take up to [`CHUNK_BYTES`], unless [`LinearCrossEntropy::in_chunks_of`] names another number. There are as few
//! chunks as that allows, of equal multiples of 128 tokens ([`LinearCrossEntropy::chunk`]); the last one may have fewer tokens, and 128
//! tokens are a chunk even if they take more bytes.
//!
//! A row of up to 8192 logits is kept in registers, and one of up to 262144 in the shared memory of a cluster of up to eight blocks: it is
//! read and written once. Longer rows are read twice.
//!
//! # Rounding
//!
//! All sums are computed in f32. Logits are rounded to the element type, which moves a loss by up to twice the rounding of the largest
//! logit. Their gradients are rounded to it too: in f16, `loss_gradient` has to have the scale that keeps small ones.
//!
//! `d_weight` keeps the sum of the chunks so far, and is rounded with each of them, once. Each rounding is off by up to half a unit in
//! the last place of that sum: all `n` chunks by up to `n / 256` of the largest sum in bf16, and `n / 2048` in f16. Roundings go up and
//! down, so most elements are off by less, about the square root of `n` times one rounding. Larger chunks are fewer: with 2 GiB, 8192
//! tokens of 128256 words are one.
//!
//! # Floor
//!
//! `6 · tokens · vocabulary · d` operations at the rate of the tensor cores, a third of that for the loss alone; and 4 bytes for each logit,
//! which the kernel between the products reads and writes (2 for the loss alone), at the bandwidth of the memory. The products themselves move
//! 6 bytes for each logit, and 8 for each weight and chunk, while they compute.

use std::{fmt, ops::Range};

use kiln::{TensorArgument, TensorArgumentMut, prelude::*};

use crate::{
    Half,
    matmul::{Epilogue, Matmul},
    rows::{CrossEntropy, cross_entropy, holds, require_narrow},
    scratch::grow,
    shape::require,
};

mod kernel;

use kernel::{LabelsArgs, last_words, short, spread, wide};

/// How many bytes the logits of a chunk take at most, unless 128 tokens take more: 256 MiB.
pub const CHUNK_BYTES: usize = 256 << 20;

/// Tokens of a chunk are a multiple of this: the rows of a tile of the products.
const TOKENS: usize = 128;

/// What is done with the gradient of the weights, `[vocabulary, d]`.
pub enum WeightGradient<'a, T> {
    /// It is not computed: the weights stay as they are.
    Unwanted,
    /// It replaces what was there.
    Replaced(&'a mut dyn TensorArgumentMut<T, 2>),
    /// It is added to what was there, the gradient of other tokens.
    Added(&'a mut dyn TensorArgumentMut<T, 2>),
}

impl<T> fmt::Debug for WeightGradient<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WeightGradient::Unwanted => "Unwanted",
            WeightGradient::Replaced(_) => "Replaced",
            WeightGradient::Added(_) => "Added",
        })
    }
}

/// Computes losses and gradients of hidden states, and keeps scratch memory from one to the next.
///
/// One `LinearCrossEntropy` serves any number of shapes and streams of its device. A call waits for the one before it, because they share the
/// scratch memory. A call of the same extents has to have run before one is recorded in a [`capture`](kiln::Device::capture), which cannot
/// allocate.
///
/// `hidden` is `[tokens, d]`, `weight` is `[vocabulary, d]`, as the weights of a layer are stored, and `targets` has an element for each
/// token. There may be no tokens and no words, and `vocabulary` is any number. Matrices are views as [`Matmul::product`] takes them: their
/// rows or their columns are contiguous. Fast are those that begin at multiples of 16 bytes, where those of gradients also end: so `d` is a multiple of 8. Results
/// do not change from run to run.
#[derive(Debug)]
pub struct LinearCrossEntropy<T: Half> {
    matmul: Matmul,
    /// The logits of a chunk, and then their gradients.
    logits: DeviceTensor<T, 1>,
    /// The last words, see [`Words`].
    last: DeviceTensor<T, 1>,
    chunk_bytes: usize,
}

impl<T: Half> LinearCrossEntropy<T> {
    /// What the kernels are compiled for.
    pub const TARGETS: &[Target] = &[Target::Sm90a];

    /// Losses on the device of a stream, in chunks of [`CHUNK_BYTES`].
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(stream: &Stream) -> Result<LinearCrossEntropy<T>> {
        LinearCrossEntropy::in_chunks_of(CHUNK_BYTES, stream)
    }

    /// Losses in chunks whose logits take so many bytes at most, unless 128 tokens take more.
    ///
    /// # Errors
    /// Those of the device.
    pub fn in_chunks_of(chunk_bytes: usize, stream: &Stream) -> Result<LinearCrossEntropy<T>> {
        Ok(LinearCrossEntropy {
            matmul: Matmul::new(stream)?,
            logits: stream.empty([0])?,
            last: stream.empty([0])?,
            chunk_bytes,
        })
    }

    /// How many tokens a chunk has, of so many with a vocabulary of so many words. There are as many chunks, and roundings of the gradient
    /// of the weights, as it takes for all tokens.
    pub fn chunk(&self, tokens: usize, vocabulary: usize) -> usize {
        Chunks::new::<T>(tokens, vocabulary, self.chunk_bytes).chunk
    }

    /// The loss of each token: [`cross_entropy`] of `hidden · weightᵀ`.
    ///
    /// # Errors
    /// [`Error::Shape`] for extents that do not fit together, [`Error::FactBroken`] for operands that are contiguous along neither axis,
    /// those of allocations and launches.
    pub fn loss(
        &mut self,
        stream: &Stream,
        hidden: &impl TensorArgument<T, 2>,
        weight: &impl TensorArgument<T, 2>,
        targets: &impl TensorArgument<i32, 1>,
        options: CrossEntropy,
        loss: &mut impl TensorArgumentMut<f32, 1>,
    ) -> Result<()> {
        let operation = "LinearCrossEntropy::loss";
        let (hidden, weight, targets) = (hidden.tensor()?, weight.tensor()?, targets.tensor()?);
        let shapes = [hidden.shape(), weight.shape()];
        let [tokens, vocabulary] = fit(operation, shapes, targets.shape())?;
        let mut loss = loss.tensor_mut()?.into_view();
        require(operation, [tokens], loss.shape())?;
        let chunks = Chunks::new::<T>(tokens, vocabulary, self.chunk_bytes);
        chunks.allocate(stream, &mut self.logits)?;
        let words = Words::new(stream, &weight, &mut self.last)?;
        for at in chunks.ranges() {
            let hidden = hidden.slice(0, at.clone())?;
            let mut logits = chunks.logits(&mut self.logits, at.len())?;
            words.product(&mut self.matmul, stream, &hidden, &mut logits)?;
            let logits = logits.slice(1, 0..vocabulary)?;
            let (targets, mut loss) = (targets.slice(0, at.clone())?, loss.slice_mut(0, at)?);
            cross_entropy(stream, &logits, &targets, options, &mut loss, None)?;
        }
        Ok(())
    }

    /// [`loss`](LinearCrossEntropy::loss), and the gradients of the hidden states, which replace what was there, and of the weights.
    ///
    /// `loss_gradient` has an element for each token: one over the number of tokens that count, for the mean of the losses. The gradients
    /// of tokens that are ignored are 0, and those of tokens whose target is no class are NaN.
    ///
    /// # Errors
    /// Those of [`loss`](LinearCrossEntropy::loss).
    #[expect(clippy::too_many_arguments, reason = "what a gradient depends on, and the gradients")]
    pub fn gradients(
        &mut self,
        stream: &Stream,
        hidden: &impl TensorArgument<T, 2>,
        weight: &impl TensorArgument<T, 2>,
        targets: &impl TensorArgument<i32, 1>,
        options: CrossEntropy,
        loss_gradient: &impl TensorArgument<f32, 1>,
        loss: &mut impl TensorArgumentMut<f32, 1>,
        d_hidden: &mut impl TensorArgumentMut<T, 2>,
        d_weight: WeightGradient<'_, T>,
    ) -> Result<()> {
        let operation = "LinearCrossEntropy::gradients";
        let (hidden, weight, targets) = (hidden.tensor()?, weight.tensor()?, targets.tensor()?);
        let (loss_gradient, mut loss) = (loss_gradient.tensor()?, loss.tensor_mut()?.into_view());
        let mut d_hidden = d_hidden.tensor_mut()?.into_view();
        let shapes = [hidden.shape(), weight.shape()];
        let [tokens, vocabulary] = fit(operation, shapes, targets.shape())?;
        for vector in [loss_gradient.shape(), loss.shape()] {
            require(operation, [tokens], vector)?;
        }
        require(operation, hidden.shape(), d_hidden.shape())?;
        let (mut d_weight, added) = match d_weight {
            WeightGradient::Unwanted => (None, false),
            WeightGradient::Replaced(d_weight) => (Some(d_weight), false),
            WeightGradient::Added(d_weight) => (Some(d_weight), true),
        };
        if let Some(d_weight) = &mut d_weight {
            require(operation, weight.shape(), d_weight.tensor_mut()?.shape())?;
        }
        let chunks = Chunks::new::<T>(tokens, vocabulary, self.chunk_bytes);
        chunks.allocate(stream, &mut self.logits)?;
        let words = Words::new(stream, &weight, &mut self.last)?;
        for at in chunks.ranges() {
            let accumulate = added || at.start > 0;
            let hidden = hidden.slice(0, at.clone())?;
            let mut logits = chunks.logits(&mut self.logits, at.len())?;
            words.product(&mut self.matmul, stream, &hidden, &mut logits)?;
            let mut logits = logits.slice_mut(1, 0..vocabulary)?;
            let targets = targets.slice(0, at.clone())?;
            let loss_gradient = loss_gradient.slice(0, at.clone())?;
            let mut loss = loss.slice_mut(0, at.clone())?;
            cross_entropy_in_place(
                stream,
                &mut logits,
                &targets,
                options,
                &loss_gradient,
                &mut loss,
            )?;
            let mut d_hidden = d_hidden.slice_mut(0, at)?;
            self.matmul.product(stream, &logits, &weight.transpose(), &mut d_hidden)?;
            if let Some(d_weight) = &mut d_weight {
                let mut d_weight = d_weight.tensor_mut()?.into_view();
                let (left, right) = (logits.transpose(), hidden.transpose());
                let epilogue = Epilogue { accumulate, ..Epilogue::default() };
                self.matmul.product_with(stream, &left, &right, &mut d_weight, epilogue)?;
            }
        }
        Ok(())
    }
}

/// The tokens and the words of hidden states and weights that fit together.
fn fit(
    operation: &'static str,
    [[tokens, d], [vocabulary, depth]]: [[usize; 2]; 2],
    targets: [usize; 1],
) -> Result<[usize; 2]> {
    require(operation, [vocabulary, d], [vocabulary, depth])?;
    require(operation, [tokens], targets)?;
    require_narrow(operation, [tokens, vocabulary])?;
    Ok([tokens, vocabulary])
}

/// How many words a product needs at a time: its rows end at multiples of 16 bytes.
const WORDS: usize = 8;

/// The weights of words for products with any number of them: a copy of the last ones is filled up with zeros.
struct Words<'a, T: Half> {
    whole: TensorView<'a, T, 2>,
    last: TensorView<'a, T, 2>,
}

impl<'a, T: Half> Words<'a, T> {
    fn new(
        stream: &Stream,
        weight: &'a DeviceTensor<T, 2>,
        scratch: &'a mut DeviceTensor<T, 1>,
    ) -> Result<Words<'a, T>> {
        let [vocabulary, d] = weight.shape();
        let whole = vocabulary / WORDS * WORDS;
        let rows = if whole < vocabulary { WORDS } else { 0 };
        grow(stream, scratch, rows * d)?;
        if rows * d > 0 {
            let first = i32::try_from(whole).expect("rows of logits are not too wide");
            let to = &mut scratch.as_strided_mut([rows, d], [d, 1])?;
            last_words::find(|i| i.T == Dtype::of::<T>())?
                .with(last_words::Args { weight, first, to })
                .launch(stream)?;
        }
        let last = scratch.as_strided([rows, d], [d, 1])?;
        Ok(Words { whole: weight.slice(0, 0..whole)?, last })
    }

    /// The logits of tokens, which end at a multiple of 16 bytes.
    fn product(
        &self,
        matmul: &mut Matmul,
        stream: &Stream,
        hidden: &TensorView<'_, T, 2>,
        logits: &mut TensorViewMut<'_, T, 2>,
    ) -> Result<()> {
        let [whole, _] = self.whole.shape();
        let [last, _] = self.last.shape();
        matmul.product(stream, hidden, &self.whole, &mut logits.slice_mut(1, 0..whole)?)?;
        if last > 0 {
            let mut logits = logits.slice_mut(1, whole..whole + last)?;
            matmul.product(stream, hidden, &self.last, &mut logits)?;
        }
        Ok(())
    }
}

/// How tokens are computed: in chunks, and with which rows of logits.
struct Chunks {
    tokens: usize,
    /// Tokens of a chunk.
    chunk: usize,
    /// Where the next row of logits begins: at a multiple of 16 bytes.
    pitch: usize,
}

impl Chunks {
    fn new<T: Element>(tokens: usize, vocabulary: usize, bytes: usize) -> Chunks {
        let pitch = vocabulary.next_multiple_of(WORDS);
        let most = bytes / (pitch * T::BYTES).max(1) / TOKENS * TOKENS;
        let chunks = tokens.div_ceil(most.max(TOKENS));
        let chunk = tokens.div_ceil(chunks.max(1)).next_multiple_of(TOKENS).min(tokens);
        Chunks { tokens, chunk, pitch }
    }

    /// The tokens of each chunk: at least one chunk, which is empty without tokens.
    fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let (tokens, chunk) = (self.tokens, self.chunk);
        let chunks = tokens.div_ceil(chunk.max(1)).max(1);
        (0..chunks).map(move |at| at * chunk..((at + 1) * chunk).min(tokens))
    }

    /// Makes scratch memory for the logits of a chunk.
    fn allocate<T: Half>(&self, stream: &Stream, logits: &mut DeviceTensor<T, 1>) -> Result<()> {
        grow(stream, logits, self.chunk * self.pitch)
    }

    /// The logits of so many tokens, as many as end at a multiple of 16 bytes.
    fn logits<'a, T: Half>(
        &self,
        scratch: &'a mut DeviceTensor<T, 1>,
        tokens: usize,
    ) -> Result<TensorViewMut<'a, T, 2>> {
        scratch.as_strided_mut([tokens, self.pitch], [self.pitch, 1])
    }
}

/// [`cross_entropy`] of logits, which its gradient replaces: `(softmax(logits) - target) · loss_gradient` for each row. Rows of up to 262144
/// logits are read once.
///
/// Loss and gradient are those of [`cross_entropy`] and [`cross_entropy_backward`](crate::rows::cross_entropy_backward).
///
/// # Errors
/// [`Error::Shape`] for extents that do not fit together; those of the launch.
pub fn cross_entropy_in_place<T: Half>(
    stream: &Stream,
    logits: &mut impl TensorArgumentMut<T, 2>,
    targets: &impl TensorArgument<i32, 1>,
    options: CrossEntropy,
    loss_gradient: &impl TensorArgument<f32, 1>,
    loss: &mut impl TensorArgumentMut<f32, 1>,
) -> Result<()> {
    let operation = "cross_entropy_in_place";
    let shape = logits.tensor_mut()?.shape();
    let [rows, _] = shape;
    require_narrow(operation, shape)?;
    for vector in [targets.tensor()?.shape(), loss_gradient.tensor()?.shape()] {
        require(operation, [rows], vector)?;
    }
    require(operation, [rows], loss.tensor_mut()?.shape())?;
    if rows == 0 {
        return Ok(());
    }
    let (ty, CrossEntropy { ignore, smoothing }) = (Dtype::of::<T>(), options);
    let labels = LabelsArgs { targets, loss_gradient, ignore, smoothing, loss };
    let mut short = short::instances().filter(|i| i.T == ty);
    let mut spread = spread::instances().filter(|i| i.T == ty);
    if let Some(instance) = short.find(|i| holds(i.N, shape)) {
        instance.with(short::Args { logits, labels }).launch(stream)
    } else if let Some(instance) = spread.find(|i| holds(i.N * i.P * i.C, shape)) {
        instance.with(spread::Args { logits, labels }).launch(stream)
    } else {
        wide::find(|i| i.T == ty)?.with(wide::Args { logits, labels }).launch(stream)
    }
}
