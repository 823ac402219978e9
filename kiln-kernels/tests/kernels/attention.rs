//! Attention against sums in f64.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::float_cmp,
    reason = "extents are small, and infinities are compared"
)]

use half::f16;
use kiln::prelude::{DeviceTensor, Result, Stream, Target};
use kiln_kernels::attention::Mask;

use crate::support::Number;

mod backward;
mod forward;
mod pages;

/// The targets of what has no kernels of its own for Blackwell.
const OTHERS: &[Target] = &[Target::Sm90a, Target::Sm80];

/// Extents, and the options of a test.
#[derive(Clone, Debug)]
struct Case {
    batch: usize,
    queries: usize,
    keys: usize,
    heads: usize,
    key_heads: usize,
    dim: usize,
    value_dim: usize,
    mask: Mask,
    scale: Option<f32>,
    soft_cap: Option<f32>,
    slopes: bool,
    /// How many queries and keys each sequence has, in a batch of 1.
    ragged: Option<Vec<[usize; 2]>>,
}

impl Default for Case {
    fn default() -> Case {
        Case {
            batch: 1,
            queries: 7,
            keys: 7,
            heads: 1,
            key_heads: 1,
            dim: 64,
            value_dim: 64,
            mask: Mask::Full,
            scale: None,
            soft_cap: None,
            slopes: false,
            ragged: None,
        }
    }
}

/// Each result and how far it may be off before it is rounded, and the same of `lse`.
struct Required {
    out: Vec<(f64, f64)>,
    lse: Vec<(f64, f64)>,
}

impl Case {
    /// The sequences: the batch and where queries and keys begin and end.
    fn sequences(&self) -> Vec<(usize, [usize; 2], [usize; 2])> {
        match &self.ragged {
            None => (0..self.batch).map(|b| (b, [0, self.queries], [0, self.keys])).collect(),
            Some(lengths) => {
                let (mut at, mut key_at) = (0, 0);
                let mut sequences = Vec::new();
                for [queries, keys] in lengths {
                    sequences.push((0, [at, at + queries], [key_at, key_at + keys]));
                    (at, key_at) = (at + queries, key_at + keys);
                }
                sequences
            }
        }
    }

    fn slope(&self, head: usize) -> f64 {
        if self.slopes { 0.5 / (head + 1) as f64 } else { 0.0 }
    }

    /// Whether a query sees the key that is so far after its place.
    fn sees(&self, ahead: i64) -> bool {
        match self.mask {
            Mask::Full => true,
            Mask::Causal => ahead <= 0,
            Mask::Window { left, right } => {
                ahead <= right.min(9999) as i64 && -ahead <= left.min(9999) as i64
            }
        }
    }

    /// The factor of products.
    fn scale(&self) -> f64 {
        self.scale.map_or((self.dim as f64).sqrt().recip(), f64::from)
    }

    /// The slopes of all heads.
    fn slopes(&self, stream: &Stream) -> Result<DeviceTensor<f32, 1>> {
        let slopes: Vec<f32> = (0..self.heads).map(|head| self.slope(head) as f32).collect();
        stream.upload(&slopes, [self.heads])
    }

    /// The offsets of queries and of keys, and the queries of the longest sequence.
    fn offsets(&self, stream: &Stream) -> Result<([DeviceTensor<i32, 1>; 2], usize)> {
        let lengths = self.ragged.clone().unwrap_or_default();
        let offsets = |which: usize| {
            let mut offsets = vec![0];
            for lengths in &lengths {
                offsets.push(offsets[offsets.len() - 1] + lengths[which] as i32);
            }
            stream.upload(&offsets, [offsets.len()])
        };
        let longest = lengths.iter().map(|lengths| lengths[0]).max().unwrap_or(0);
        Ok(([offsets(0)?, offsets(1)?], longest))
    }

    /// Attention in f64. What no sequence has is not a number.
    fn reference<T: Number>(&self, q: &[T], k: &[T], v: &[T]) -> Required {
        let Case { batch, queries, keys, heads, key_heads, dim, value_dim, .. } = *self;
        let mut out = vec![(f64::NAN, 0.0); batch * queries * heads * value_dim];
        let mut lse = vec![(f64::NAN, 0.0); batch * heads * queries];
        let scale = self.scale();
        for (b, [from, to], [key_from, key_to]) in self.sequences() {
            for (query, head) in (from..to).flat_map(|query| (0..heads).map(move |h| (query, h))) {
                let key_head = head / (heads / key_heads);
                let place = (query - from) as i64 + (key_to - key_from) as i64 - (to - from) as i64;
                let mine = &q[((b * queries + query) * heads + head) * dim..][..dim];
                let mut seen = Vec::new();
                // How far a score may be off.
                let mut off = 0f64;
                for key in key_from..key_to {
                    let ahead = (key - key_from) as i64 - place;
                    if !self.sees(ahead) {
                        continue;
                    }
                    let at = (b * keys + key) * key_heads + key_head;
                    let terms = || {
                        let theirs = &k[at * dim..][..dim];
                        mine.iter().zip(theirs).map(|(q, k)| q.value() * k.value() * scale)
                    };
                    let mut score: f64 = terms().sum();
                    // Products are exact in f32; each sum rounds by 2^-24, and Hopper cuts off twice that.
                    off = off.max(dim as f64 * 2f64.powi(-23) * terms().map(f64::abs).sum::<f64>());
                    if let Some(cap) = self.soft_cap.map(f64::from) {
                        score = cap * (score / cap).tanh();
                    }
                    score -= self.slope(head) * ahead.abs() as f64;
                    // The scale, the cap, the slope and the largest score are each rounded, `tanh` to 2 ulp.
                    off = off.max(2f64.powi(-21) * (score.abs() + 1.0));
                    seen.push((score, at));
                }
                let top = seen.iter().map(|s| s.0).fold(f64::NEG_INFINITY, f64::max);
                let total: f64 = seen.iter().map(|s| (s.0 - top).exp()).sum();
                // Of a weight in proportion: its score and the largest one, `exp2` to 2 ulp, and once more for each tile that follows.
                let tiles = (key_to - key_from).div_ceil(16) as f64;
                let weight_off = 2.0 * off + (tiles + 1.0) * 2f64.powi(-21);
                let count = seen.len() as f64;
                // Weights are rounded to the element type, but f16 no finer than 2^-25; the total is of weights that are not rounded.
                let relative = T::UNIT / 2.0 + 2.0 * weight_off + count * 2f64.powi(-23);
                let first = ((b * queries + query) * heads + head) * value_dim;
                let results = &mut out[first..first + value_dim];
                results.fill((0.0, 0.0));
                for &(score, at) in &seen {
                    let weight = (score - top).exp() / total;
                    let least = 2f64.powi(-25) / total;
                    for (result, value) in results.iter_mut().zip(&v[at * value_dim..]) {
                        let value = value.value();
                        result.0 += weight * value;
                        result.1 += (weight * relative + least) * value.abs();
                    }
                }
                let sum = top + total.ln();
                let off = off + weight_off + count * 2f64.powi(-24) + 2f64.powi(-22) * sum.abs();
                lse[(b * heads + head) * queries + query] =
                    if seen.is_empty() { (f64::NEG_INFINITY, 0.0) } else { (sum, off) };
            }
        }
        Required { out, lse }
    }
}

/// Tensors of ones, of these shapes.
fn ones<const N: usize>(
    stream: &Stream,
    shapes: [[usize; 4]; N],
) -> Result<[DeviceTensor<f16, 4>; N]> {
    let tensors: Result<Vec<_>> =
        shapes.into_iter().map(|shape| stream.full(shape, f16::ONE)).collect();
    Ok(tensors?.try_into().expect("a tensor for each shape"))
}
