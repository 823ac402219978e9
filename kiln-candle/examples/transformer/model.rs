//! A transformer block in candle, with its norm and its attention by kernels of Kiln's, or by candle's own operations.

use crate::{attention::Attention, rms_norm::RmsNorm};
use candle_core::{D, DType, Module, Result, Tensor};
use candle_nn::{Embedding, Linear, VarBuilder, embedding, linear, linear_no_bias, ops::softmax};

/// What computes norms and attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Kiln,
    /// candle's own operations, put together.
    Candle,
}

pub(crate) fn rms_norm(by: By, x: &Tensor, weight: &Tensor, eps: f32) -> Result<Tensor> {
    use kiln_candle::Op;
    match by {
        By::Kiln => RmsNorm { eps }.apply([x, weight]),
        By::Candle => {
            let mean = x.sqr()?.mean_keepdim(D::Minus1)?;
            x.broadcast_div(&(mean + f64::from(eps))?.sqrt()?)?.broadcast_mul(weight)
        }
    }
}

pub(crate) fn attention(
    by: By,
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
    causal: bool,
) -> Result<Tensor> {
    use kiln_candle::Op;
    #[expect(clippy::cast_precision_loss, reason = "a head is a few elements wide")]
    let scale = (q.dim(D::Minus1)? as f64).sqrt().recip();
    match by {
        By::Kiln => {
            #[expect(clippy::cast_possible_truncation, reason = "the kernels take f32")]
            let scale = scale as f32;
            Attention { scale, causal }.apply([q, k, v])
        }
        By::Candle => {
            let mut scores = (q.contiguous()?.matmul(&k.t()?.contiguous()?)? * scale)?;
            if causal {
                let (queries, keys) = (q.dim(2)?, k.dim(2)?);
                let rows = Tensor::arange(0, u32::try_from(queries)?, q.device())?;
                let columns = Tensor::arange(0, u32::try_from(keys)?, q.device())?;
                let rows = rows.unsqueeze(1)?.broadcast_as((queries, keys))?;
                let hidden = columns.broadcast_as((queries, keys))?.gt(&rows)?;
                let masked = Tensor::new(f32::NEG_INFINITY, q.device())?.to_dtype(q.dtype())?;
                let shape = scores.shape().clone();
                let hidden = hidden.broadcast_as(&shape)?;
                scores = hidden.where_cond(&masked.broadcast_as(&shape)?, &scores)?;
            }
            softmax(&scores, D::Minus1)?.matmul(&v.contiguous()?)
        }
    }
}

/// x + attention(norm(x)), then the same with a perceptron.
pub(crate) struct Block {
    by: By,
    heads: usize,
    norms: [Tensor; 2],
    qkv: Linear,
    out: Linear,
    up: Linear,
    down: Linear,
}

const EPS: f32 = 1e-5;

impl Block {
    fn new(by: By, hidden: usize, heads: usize, vars: &VarBuilder<'_>) -> Result<Self> {
        let norm = |name| vars.get_with_hints(hidden, name, candle_nn::Init::Const(1.0));
        Ok(Self {
            by,
            heads,
            norms: [norm("norm1")?, norm("norm2")?],
            qkv: linear_no_bias(hidden, 3 * hidden, vars.pp("qkv"))?,
            out: linear_no_bias(hidden, hidden, vars.pp("out"))?,
            up: linear(hidden, 4 * hidden, vars.pp("up"))?,
            down: linear(4 * hidden, hidden, vars.pp("down"))?,
        })
    }
}

impl Module for Block {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let (batch, sequence, hidden) = x.dims3()?;
        let head = hidden / self.heads;
        let normed = rms_norm(self.by, x, &self.norms[0], EPS)?;
        let qkv = self.qkv.forward(&normed)?.reshape((batch, sequence, 3, self.heads, head))?;
        // Views of one tensor, with heads in front of the sequence: the kernels take them as they lie.
        let part = |i| qkv.narrow(2, i, 1)?.squeeze(2)?.transpose(1, 2);
        let mixed = attention(self.by, &part(0)?, &part(1)?, &part(2)?, true)?;
        let x =
            (x + self.out.forward(&mixed.transpose(1, 2)?.reshape((batch, sequence, hidden))?)?)?;
        let normed = rms_norm(self.by, &x, &self.norms[1], EPS)?;
        &x + self.down.forward(&self.up.forward(&normed)?.gelu()?)?
    }
}

/// Tokens to logits of the token that comes next.
pub(crate) struct Model {
    tokens: Embedding,
    places: Tensor,
    blocks: Vec<Block>,
    head: Linear,
}

/// The sizes of a model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) tokens: usize,
    pub(crate) sequence: usize,
    pub(crate) hidden: usize,
    pub(crate) heads: usize,
    pub(crate) blocks: usize,
}

impl Model {
    pub(crate) fn new(by: By, sizes: Sizes, vars: &VarBuilder<'_>) -> Result<Self> {
        let Sizes { tokens, sequence, hidden, heads, blocks } = sizes;
        let init = candle_nn::Init::Randn { mean: 0.0, stdev: 0.1 };
        Ok(Self {
            tokens: embedding(tokens, hidden, vars.pp("tokens"))?,
            places: vars.get_with_hints((sequence, hidden), "places", init)?,
            blocks: (0..blocks)
                .map(|i| Block::new(by, hidden, heads, &vars.pp(format!("block{i}"))))
                .collect::<Result<_>>()?,
            head: linear_no_bias(hidden, tokens, vars.pp("head"))?,
        })
    }

    /// The mean cross entropy of the tokens from the second on, given those before them.
    pub(crate) fn loss(&self, tokens: &Tensor) -> Result<Tensor> {
        let sequence = tokens.dim(1)? - 1;
        let given = tokens.narrow(1, 0, sequence)?.contiguous()?;
        let next = tokens.narrow(1, 1, sequence)?.contiguous()?;
        let places = self.places.narrow(0, 0, sequence)?;
        let mut x = self.tokens.forward(&given)?.broadcast_add(&places)?;
        for block in &self.blocks {
            x = block.forward(&x)?;
        }
        let logits = self.head.forward(&x)?.flatten_to(1)?;
        candle_nn::loss::cross_entropy(&logits.to_dtype(DType::F32)?, &next.flatten_all()?)
    }
}
