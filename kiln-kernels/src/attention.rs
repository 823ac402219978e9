//! Attention: `out = softmax(q · kᵀ · scale) · v`, for each head.
//!
//! [`Attention::forward`] takes tensors of shape `[batch, sequence, heads, dim]` with any strides; [`Options`] has masks, soft caps, slopes
//! and sequences of different lengths. Several heads of queries may share a head of keys and values.
//!
//! # Idea
//!
//! The scores are never stored ("FlashAttention" by Dao et al., 2022): a block keeps some queries of one head, and goes through the keys and
//! values that they see. For each query it has the largest score so far, the sum of the exponentials of all scores, less the
//! largest one, and the sum of the values with these weights. When a larger score comes, it multiplies both sums by a power of two, by
//! which the new weights are smaller. Scores and sums are f32; weights are rounded to the element type before the tensor cores multiply them
//! with the values.
//!
//! A mask is two numbers, which are compared at run time: how far a query sees before and after its place. A block visits only keys that one of its queries sees,
//! and compares positions only in tiles of keys that not all of them see. So one kernel serves all masks. A query that sees no key has the result 0.
//!
//! # Schedule
//!
//! On Hopper, a block has 128 queries. One warp loads tiles of keys and values by TMA into rings of two. Two warpgroups hold 64 queries each: they
//! start the products of the next keys and the sums of the last values, and compute weights while the tensor cores run
//! ("FlashAttention-3" by Shah et al., 2024). On other GPUs a block has 64 queries, and copies keys and values one iteration ahead.
//! Blocks with the last queries, which see most keys of causal attention, come first. Heads narrower than those of an
//! instance are filled up with zeros by the copies.
//!
//! # Floor
//!
//! `2 (dim + value dim)` operations for each pair of a query and a key that it sees, at the rate of the tensor cores.

use kiln::{TensorArgument, TensorArgumentMut, prelude::*};

use crate::Real;

mod hopper;
mod plain;
mod seen;

use hopper::specialized;
use plain::pipelined;

/// An element type of queries, keys, values and results: [`bf16`] and [`struct@f16`].
pub trait Operand: Real {}

impl Operand for bf16 {}
impl Operand for f16 {}

/// Which keys a query sees. Queries and keys end together: of `m` queries and `n` keys, query `i` is at the place of key `i + n - m`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mask {
    /// All keys.
    #[default]
    Full,
    /// The key at its place, and those before.
    Causal,
    /// The key at its place, `left` keys before and `right` keys after it.
    Window {
        /// How many before: `usize::MAX` for all.
        left: usize,
        /// How many after: 0 for a causal window.
        right: usize,
    },
}

/// More than the distance of any two positions; the kernels add it to positions in i32.
const FAR: i32 = 1 << 30;

impl Mask {
    /// How many keys are seen before and after the place of a query.
    fn reach(self) -> [i32; 2] {
        let (left, right) = match self {
            Mask::Full => (usize::MAX, usize::MAX),
            Mask::Causal => (usize::MAX, 0),
            Mask::Window { left, right } => (left, right),
        };
        [left, right].map(|keys| i32::try_from(keys).map_or(FAR, |keys| keys.min(FAR)))
    }
}

/// Sequences of different lengths, one after the other in tensors of batch 1.
#[derive(Clone, Copy, Debug)]
pub struct Ragged<'a> {
    /// Where the queries of each sequence begin, and at last where those of the last one end: one number more than there are sequences.
    /// They do not decrease. What is outside of the tensor is cut off.
    pub offsets: &'a DeviceTensor<i32, 1>,
    /// The same of keys and values.
    pub key_offsets: &'a DeviceTensor<i32, 1>,
    /// The queries of the longest sequence, or more. Queries of a sequence past this number are not computed.
    pub longest: usize,
}

/// What else there is to attention. The default is all keys, and a scale of one over the square root of the head's extent.
#[derive(Debug, Default)]
pub struct Options<'a> {
    /// Which keys are seen.
    pub mask: Mask,
    /// The factor of the products of queries and keys. With one that is not positive and finite all results are NaN.
    pub scale: Option<f32>,
    /// Scores `s` become `cap · tanh(s / cap)`. With a cap that is not positive and finite all results are NaN.
    pub soft_cap: Option<f32>,
    /// A slope for each head of queries: a score decreases by it for each position between the query's place and the key ("ALiBi" by
    /// Press et al., 2021).
    pub slopes: Option<&'a DeviceTensor<f32, 1>>,
    /// Sequences of different lengths.
    pub ragged: Option<Ragged<'a>>,
    /// Takes the logarithm of the sum of the exponentials of the scores of each query: `[batch, heads, queries]`, of any strides. It is
    /// negative infinity for a query that sees no key.
    pub lse: Option<&'a mut DeviceTensor<f32, 3>>,
}

/// Computes attention.
#[derive(Debug)]
pub struct Attention {
    hopper: bool,
    // Tensors without elements, for what is absent.
    no_offsets: DeviceTensor<i32, 1>,
    no_slopes: DeviceTensor<f32, 1>,
    no_lse: DeviceTensor<f32, 3>,
}

impl Attention {
    /// What the kernels are compiled for.
    pub const TARGETS: &[Target] = &[Target::Sm90a, Target::Sm80];

    /// Attention on the device of a stream.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(stream: &Stream) -> Result<Attention> {
        Ok(Attention {
            hopper: stream.device().runs(Target::Sm90a),
            no_offsets: stream.empty([0])?,
            no_slopes: stream.empty([0])?,
            no_lse: stream.empty([0, 0, 0])?,
        })
    }

    /// `out = softmax(q · kᵀ · scale) · v`.
    ///
    /// | tensor | shape |
    /// |---|---|
    /// | `q` | `[batch, queries, heads, dim]` |
    /// | `k` | `[batch, keys, key heads, dim]` |
    /// | `v` | `[batch, keys, key heads, value dim]` |
    /// | `out` | `[batch, queries, heads, value dim]` |
    ///
    /// `heads` is a multiple of `key heads`: with a quotient of `g`, heads `g i` to `g i + g - 1` of queries see head `i` of keys. `dim` and `value dim` are
    /// at most 256. Those of 64, 128 and 256, and 256 beside 128, waste nothing; others cost as much as the next larger one.
    ///
    /// Strides are any that TMA takes: the last axis is contiguous, and all other strides are multiples of 16 bytes. So `dim` and `value dim` are
    /// multiples of 8; a tensor `[batch, heads, sequence, dim]` is passed by [`permute`](DeviceTensor::permute), and parts of
    /// one tensor by [`slice`](DeviceTensor::slice).
    ///
    /// Extents may be 0. A query that sees no key has the result 0, as has one whose scores are all below -10³⁰, before the scale.
    /// NaN and infinities spread as the formula says; an infinite or NaN value of a key that is not seen may give NaN, because its weight
    /// is 0.
    ///
    /// # Errors
    /// [`Error::Shape`] for extents that do not fit together, [`Error::FactBroken`] and [`Error::TensorMap`] for strides that TMA does not take,
    /// those of launches.
    pub fn forward<T: Operand>(
        &mut self,
        stream: &Stream,
        q: &impl TensorArgument<T, 4>,
        k: &impl TensorArgument<T, 4>,
        v: &impl TensorArgument<T, 4>,
        out: &mut impl TensorArgumentMut<T, 4>,
        options: Options<'_>,
    ) -> Result<()> {
        let Options { mask, scale, soft_cap, slopes, ragged, lse } = options;
        let [batch, queries, heads, dim] = q.tensor()?.shape();
        let [_, keys, key_heads, _] = k.tensor()?.shape();
        let [_, _, _, value_dim] = v.tensor()?.shape();
        fits("k of attention", [batch, keys, key_heads, dim], k.tensor()?.shape())?;
        fits("v of attention", [batch, keys, key_heads, value_dim], v.tensor()?.shape())?;
        fits("out of attention", [batch, queries, heads, value_dim], out.tensor_mut()?.shape())?;
        let shared = heads.checked_div(key_heads).unwrap_or(0) * key_heads;
        fits("heads of attention, a multiple of those of keys", [shared], [heads])?;
        fits("head extents of attention", [dim.min(256), value_dim.min(256)], [dim, value_dim])?;
        if let Some(slopes) = slopes {
            fits("slopes of attention", [heads], slopes.shape())?;
        }
        if let Some(lse) = lse.as_ref() {
            fits("lse of attention", [batch, heads, queries], lse.shape())?;
        }
        let (mut sequences, mut longest) = (batch, queries);
        if let Some(Ragged { offsets, key_offsets, longest: given }) = ragged {
            fits("offsets of keys", offsets.shape(), key_offsets.shape())?;
            fits("offsets of sequences", [offsets.len().max(1)], offsets.shape())?;
            fits("batch of ragged attention", [1], [batch])?;
            (sequences, longest) = (offsets.len() - 1, given.min(queries));
        }
        if sequences == 0 || longest == 0 || heads == 0 || (value_dim == 0 && lse.is_none()) {
            return Ok(());
        }

        let scale = scale.unwrap_or(1.0 / (dim.max(1) as f32).sqrt());
        let positive = |x: f32| if x > 0.0 && x.is_finite() { x } else { f32::NAN };
        // With a cap, the kernel's products are those in -1..1, and the cap is their scale.
        let (outer, inner) = match soft_cap {
            Some(cap) if positive(scale).is_nan() => (f32::NAN, cap),
            Some(cap) => (positive(cap), scale / positive(cap)),
            None => (positive(scale), 0.0),
        };
        let [left, right] = mask.reach();
        let (offsets, key_offsets) = match ragged {
            Some(Ragged { offsets, key_offsets, .. }) => (offsets, key_offsets),
            None => (&self.no_offsets, &self.no_offsets),
        };
        let slopes = slopes.unwrap_or(&self.no_slopes);
        let lse = lse.unwrap_or(&mut self.no_lse);
        let fitting = |t: Dtype, [d, v]: [i32; 2]| {
            t == Dtype::of::<T>() && dim <= extent(d) && value_dim <= extent(v)
        };
        macro_rules! launch {
            ($kernel:ident, $rows:literal) => {{
                let instance = $kernel::forward::instances()
                    .find(|one| fitting(one.T, [one.D, one.V]))
                    .expect("there is an instance for both extents of 256");
                let count = |count: usize| {
                    i32::try_from(count).map_err(|_| Error::Shape {
                        operation: "sequences of attention",
                        required: vec![i32::MAX as usize],
                        actual: vec![count],
                    })
                };
                let (blocks, batch) = (count(longest.div_ceil($rows))?, count(sequences)?);
                let (scale, unit) = (outer * std::f32::consts::LOG2_E, 1.0 / outer);
                instance
                    .with($kernel::forward::Args {
                        q,
                        k,
                        v,
                        out,
                        lse,
                        offsets,
                        key_offsets,
                        slopes,
                        blocks,
                        batch,
                        left,
                        right,
                        scale,
                        inner,
                        unit,
                    })
                    .launch(stream)
            }};
        }
        if self.hopper { launch!(specialized, 128) } else { launch!(pipelined, 64) }
    }
}

/// A constant of an instance, which is positive.
fn extent(constant: i32) -> usize {
    constant.unsigned_abs() as usize
}

fn fits<const R: usize>(
    operation: &'static str,
    required: [usize; R],
    actual: [usize; R],
) -> Result<()> {
    if required == actual {
        Ok(())
    } else {
        Err(Error::Shape { operation, required: required.to_vec(), actual: actual.to_vec() })
    }
}
