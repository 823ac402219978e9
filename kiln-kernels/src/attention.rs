//! Attention: `out = softmax(q · kᵀ · scale) · v`, for each head.
//!
//! | function | keys and values |
//! |---|---|
//! | [`Attention::forward`] | of batches of sequences of one length |
//! | [`Attention::forward_ragged`] | of sequences of different lengths, one after the other |
//! | [`Attention::backward`] | of [`Attention::forward`], for its gradients |
//! | [`Attention::backward_ragged`] | of [`Attention::forward_ragged`], for its gradients |
//! | [`Attention::decode`] | in the pages of a cache, for the newest queries of each sequence |
//! | [`Attention::decode_latent`] | the same of latent attention, whose keys are the values too |
//!
//! All take [`Options`]: masks, scale, soft cap, slopes, and the logarithms that a derivative needs. Several heads of queries may share a
//! head of keys and values.
//!
//! ```
//! use kiln::prelude::*;
//! use kiln_kernels::attention::{Attention, Mask, Options};
//!
//! let device = Device::best_for(Attention::TARGETS)?;
//! let stream = device.stream()?;
//! let mut attention = Attention::new(&stream)?;
//!
//! // Two sequences of five positions: four heads of queries, which share two of keys and values.
//! let q = stream.full([2, 5, 4, 64], bf16::from_f32(0.5))?;
//! let k = stream.full([2, 5, 2, 64], bf16::from_f32(0.25))?;
//! let v = stream.full([2, 5, 2, 64], bf16::from_f32(3.0))?;
//! let mut out = stream.zeros::<bf16, 4>([2, 5, 4, 64])?;
//! let options = Options { mask: Mask::Causal, ..Options::default() };
//! attention.forward(&stream, &q, &k, &v, &mut out, options)?;
//! assert!(out.to_vec(&stream)?.iter().all(|x| x.to_f32() == 3.0)); // the mean of equal values
//! # Ok::<(), kiln::Error>(())
//! ```
//!
//! # Idea
//!
//! The scores are never stored ("`FlashAttention`" by Dao et al., 2022): a block keeps some queries of one head, and goes through the keys
//! and values that they see. For each query it has the largest score so far, the sum of the exponentials of all scores minus the largest
//! one, and the sum of the values with these weights. When a larger score comes, both sums shrink by the exponential of the difference.
//! Scores and sums are f32; weights are rounded to the element type, because the tensor cores multiply them with the values.
//!
//! A mask is two numbers that are known only at run time: how far a query sees before and after its place. A block visits the tiles
//! of keys of which its queries see any, and compares positions in those of which they do not see all. So one kernel serves all masks.
//!
//! The newest queries are few, and the time is that of reading keys and values. So the heads of queries that share a head of keys are the
//! rows of one product, and blocks share the keys of a sequence if there are too few sequences.
//!
//! The gradients do not read stored weights either: `exp2` of a score minus the logarithm of its query's total is the weight. With the
//! gradient `dp = d_out · vᵀ` of weights `p`, that of scores is `ds = p (dp - delta)`, where `delta` is the sum of a row of `out · d_out`.
//! Then `dv = pᵀ · d_out`, `dk = dsᵀ · q` and `dq = ds · k`.
//!
//! # Schedule
//!
//! On Hopper, a block of `forward` has 128 queries. One warp loads tiles of keys and values by TMA into rings of two. Two warpgroups hold
//! 64 queries each: they start the products of the next keys and the sums of the last values, and compute weights while the tensor cores
//! run ("`FlashAttention`-3" by Shah et al., 2024). On data-centre Blackwell, with heads of up to 128, a block has two tiles of 128 queries,
//! whose scores and sums are in tensor memory. One warp loads as on Hopper, one starts all products, and a warpgroup for each tile computes
//! weights, which it writes over the scores: while it does, the tensor cores work on the other tile. It has no time to spare, so sums shrink
//! only when weights would come to more than 256 (as in "`FlashAttention`-4"). On other GPUs, and for wider heads there, a block has
//! 64 queries, and copies keys and values one iteration ahead. Blocks with the last queries, which see most keys of causal attention, come
//! first. Heads narrower than those of an instance are filled up with zeros by the copies.
//!
//! `backward` computes `delta` first. In a second kernel, a block has some keys and values, and goes through the queries that see them, of
//! all heads that share the keys; keys are along the rows of its products, so that weights need no exchange before they are multiplied with
//! queries and gradients. In a third, a block has some queries, and goes through the keys that they see. So scores and `dp` are computed
//! twice, seven products in all for the five that there are, and no sum needs an atomic operation. [`Sums::Atomic`] spares the third: blocks
//! of keys add their parts of the gradients of queries in f32. On Hopper, for heads of up to 128, a block has 128 keys or queries; two
//! warpgroups hold 64 each, and a warp loads tiles by TMA into rings of two.
//!
//! A block of `decode` is one warp, which waits for no other: it copies 16 keys and values at a time through a ring. Six of them fit in a
//! multiprocessor, and have more than 128 KiB in flight. A second kernel adds what they have in the order of the keys, one row in each
//! block.
//!
//! A block of `decode_latent` has 64 heads on Hopper: two warpgroups multiply, and have half of the 512 columns each, while TMA loads the
//! next 64 keys. On other GPUs it has 16 heads.
//!
//! # Floor
//!
//! Of `forward`: `2 (dim + value dim)` operations for each pair of a query and a key that it sees, at the rate of the tensor cores. Of
//! `backward`: `8 dim + 6 value dim` operations for each pair. Of
//! `decode`: the bytes of keys and values at the bandwidth of the memory. Measured shares are in `benches/results/families.md`, of Hopper;
//! on Blackwell nothing has been measured. There an `exp2` for each pair, of which a multiprocessor computes 16 in a cycle, takes as long as
//! the products of heads of 128, and twice as long as those of heads of 64.

use kiln::{TensorArgument, TensorArgumentMut, TensorRef, prelude::*};

use crate::{
    Half,
    shape::{extent, require},
};

mod backward;
mod blackwell;
mod decode;
mod hopper;
mod latent;
mod pages;
mod parts;
mod plain;
mod seen;
mod softmax;

pub use backward::{Given, Gradients, Sums};
use blackwell::tensor_memory;
use hopper::specialized;
pub use pages::Pages;
use plain::pipelined;

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

impl Ragged<'_> {
    fn check(self, batch: usize) -> Result<()> {
        let Ragged { offsets, key_offsets, .. } = self;
        require("offsets of keys", offsets.shape(), key_offsets.shape())?;
        require("offsets of sequences", [offsets.len().max(1)], offsets.shape())?;
        require("batch of ragged attention", [1], [batch])
    }
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
    /// A slope for each head of queries: a score decreases by it for each position between the query's place and the key ("`ALiBi`" by
    /// Press et al., 2021).
    pub slopes: Option<&'a DeviceTensor<f32, 1>>,
    /// Takes the logarithm of the sum of the exponentials of the scores of each query: `[batch, heads, queries]`, of any strides. It is
    /// negative infinity for a query that sees no key. Gradients do not use it: they take the logarithms as an argument.
    pub lse: Option<&'a mut DeviceTensor<f32, 3>>,
}

/// Which kernels of one architecture there are, beside those for all GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kernels {
    /// Those with `wgmma`.
    Hopper,
    /// Those with `tcgen05`.
    Blackwell,
    /// None.
    OfAll,
}

/// Computes attention, and keeps scratch memory from one [`decode`](Attention::decode) or [`backward`](Attention::backward) to the next.
///
/// One `Attention` serves any number of shapes and streams of its device. Calls of `decode` and `backward` on two streams at once take an
/// `Attention` each. A call of the same extents has to have run before one is recorded in a [`capture`](kiln::Device::capture), which
/// cannot allocate.
#[derive(Debug)]
pub struct Attention {
    kernels: Kernels,
    multiprocessors: usize,
    /// Sums, and largest scores and totals, of parts of the keys. Gradients have the sums of their queries here.
    parts: DeviceTensor<f32, 1>,
    tops: DeviceTensor<f32, 1>,
    // Tensors without elements, for what is absent.
    no_offsets: DeviceTensor<i32, 1>,
    no_slopes: DeviceTensor<f32, 1>,
    no_lse: DeviceTensor<f32, 3>,
}

impl Attention {
    /// What the kernels are compiled for.
    pub const TARGETS: &[Target] = &[Target::Sm90a, Target::Sm80, Target::Sm100f];

    /// Attention on the device of a stream.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(stream: &Stream) -> Result<Attention> {
        let runs = |target| stream.device().runs(target);
        Ok(Attention {
            kernels: if runs(Target::Sm90a) {
                Kernels::Hopper
            } else if runs(Target::Sm100f) {
                Kernels::Blackwell
            } else {
                Kernels::OfAll
            },
            multiprocessors: stream.device().properties().multiprocessors as usize,
            parts: stream.empty([0])?,
            tops: stream.empty([0])?,
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
    /// `heads` is a multiple of `key heads`: with a quotient of `g`, heads `g i` to `g i + g - 1` of queries see head `i` of keys. `dim`
    /// and `value dim` are at most 256. Those of 64, 128 and 256, and 192 beside 128, waste nothing on Hopper; others cost as much as the
    /// next larger ones. On data-centre Blackwell, both are at most 128 for the kernel that uses its tensor memory.
    ///
    /// Strides are any that TMA takes: the last axis is contiguous, and all other strides are multiples of 16 bytes. So `dim` and `value
    /// dim` of contiguous tensors are multiples of 8; a tensor `[batch, heads, sequence, dim]` is passed by
    /// [`permute`](DeviceTensor::permute), and parts of one tensor by [`slice`](DeviceTensor::slice). Where there is no kernel for TMA, all
    /// strides are taken, and others are slower.
    ///
    /// Extents may be 0. A query that sees no key has the result 0, as has one whose scores are all below -10³⁰, before the scale.
    /// NaN and infinities spread as the formula says; an infinite or NaN value of a key that is not seen may give NaN, because its weight
    /// is 0.
    ///
    /// # Errors
    /// [`Error::Shape`] for extents that do not fit together, [`Error::FactBroken`] and [`Error::TensorMap`] for strides that TMA does not
    /// take, those of launches.
    pub fn forward<T: Half>(
        &mut self,
        stream: &Stream,
        q: &impl TensorArgument<T, 4>,
        k: &impl TensorArgument<T, 4>,
        v: &impl TensorArgument<T, 4>,
        out: &mut impl TensorArgumentMut<T, 4>,
        options: Options<'_>,
    ) -> Result<()> {
        self.launch(stream, [q.tensor()?, k.tensor()?, v.tensor()?], out, None, options)
    }

    /// [`forward`](Attention::forward) for sequences of different lengths, which lie one after the other in tensors of batch 1, and in the
    /// last axis of `lse`. No sequence reads or writes what is of another one. Masks hold for each of them alone.
    ///
    /// # Errors
    /// [`Error::Shape`] for another batch, or numbers of offsets that differ; those of [`forward`](Attention::forward).
    #[expect(clippy::too_many_arguments, reason = "attention has as many")]
    pub fn forward_ragged<T: Half>(
        &mut self,
        stream: &Stream,
        q: &impl TensorArgument<T, 4>,
        k: &impl TensorArgument<T, 4>,
        v: &impl TensorArgument<T, 4>,
        ragged: Ragged<'_>,
        out: &mut impl TensorArgumentMut<T, 4>,
        options: Options<'_>,
    ) -> Result<()> {
        ragged.check(q.tensor()?.shape()[0])?;
        self.launch(stream, [q.tensor()?, k.tensor()?, v.tensor()?], out, Some(ragged), options)
    }

    fn launch<T: Half>(
        &mut self,
        stream: &Stream,
        [q, k, v]: [TensorRef<'_, T, 4>; 3],
        out: &mut impl TensorArgumentMut<T, 4>,
        ragged: Option<Ragged<'_>>,
        options: Options<'_>,
    ) -> Result<()> {
        let [batch, queries, heads, dim] = q.shape();
        let [_, keys, key_heads, _] = k.shape();
        let value_dim = v.shape()[3];
        require("k of attention", [batch, keys, key_heads, dim], k.shape())?;
        require("v of attention", [batch, keys, key_heads, value_dim], v.shape())?;
        require("out of attention", [batch, queries, heads, value_dim], out.tensor_mut()?.shape())?;
        options.check([batch, queries, heads, key_heads], [dim, value_dim])?;
        let (sequences, longest) = match ragged {
            Some(Ragged { offsets, longest, .. }) => (offsets.len() - 1, longest.min(queries)),
            None => (batch, queries),
        };
        let stores_nothing = value_dim == 0 && options.lse.is_none();
        if sequences == 0 || longest == 0 || heads == 0 || stores_nothing {
            return Ok(());
        }
        let Factors { scale, inner, unit } = options.factors(dim);
        let [left, right] = options.mask.reach();
        let (offsets, key_offsets) = match ragged {
            Some(Ragged { offsets, key_offsets, .. }) => (offsets, key_offsets),
            None => (&self.no_offsets, &self.no_offsets),
        };
        let changed = options.soft_cap.is_some() || options.slopes.is_some();
        let slopes = options.slopes.unwrap_or(&self.no_slopes);
        let lse = options.lse.unwrap_or(&mut self.no_lse);
        let fitting = |t: Dtype, [d, v]: [i32; 2]| {
            t == Dtype::of::<T>() && dim <= extent(d) && value_dim <= extent(v)
        };
        macro_rules! launch {
            ($kernel:ident, $rows:literal, $fits:expr) => {{
                let instance = $kernel::forward::instances()
                    .find(|one| fitting(one.T, [one.D, one.V]) && $fits(one))
                    .expect("there is an instance for both extents of 256");
                let (blocks, batch) = (count(longest.div_ceil($rows))?, count(sequences)?);
                let (q, k, v) = (&q, &k, &v);
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
        match self.kernels {
            Kernels::Hopper => {
                launch!(specialized, 128, |one: &specialized::forward::Instance| one.CHANGED
                    == changed)
            }
            Kernels::Blackwell if dim.max(value_dim) <= 128 => {
                launch!(tensor_memory, 256, |one: &tensor_memory::forward::Instance| one.CHANGED
                    == changed)
            }
            Kernels::Blackwell | Kernels::OfAll => launch!(pipelined, 64, |_| true),
        }
    }
}

/// The numbers by which kernels multiply.
struct Factors {
    /// Of what `exp2` takes, with log2(e).
    scale: f32,
    /// Inside of a soft cap; 0 without.
    inner: f32,
    /// Of a slope, so that it is subtracted before the scale.
    unit: f32,
}

impl Options<'_> {
    fn check(
        &self,
        [batch, queries, heads, key_heads]: [usize; 4],
        [dim, value_dim]: [usize; 2],
    ) -> Result<()> {
        let shared = heads.checked_div(key_heads).unwrap_or(0) * key_heads;
        require("heads of attention, a multiple of those of keys", [shared], [heads])?;
        require("head extents of attention", [dim.min(256), value_dim.min(256)], [dim, value_dim])?;
        if let Some(slopes) = self.slopes {
            require("slopes of attention", [heads], slopes.shape())?;
        }
        match &self.lse {
            Some(lse) => require("lse of attention", [batch, heads, queries], lse.shape()),
            None => Ok(()),
        }
    }

    /// The factor of products; NaN if it is not positive and finite.
    #[expect(clippy::cast_precision_loss, reason = "the extent of a head is at most 256")]
    fn true_scale(&self, dim: usize) -> f32 {
        positive(self.scale.unwrap_or(1.0 / (dim.max(1) as f32).sqrt()))
    }

    fn factors(&self, dim: usize) -> Factors {
        let scale = self.true_scale(dim);
        let (outer, inner) = match self.soft_cap {
            // The kernel's products are those in -1..1 then, and the cap is their scale.
            Some(cap) if !scale.is_nan() => (positive(cap), scale / positive(cap)),
            _ => (scale, 0.0),
        };
        Factors { scale: outer * std::f32::consts::LOG2_E, inner, unit: 1.0 / outer }
    }
}

/// A number, or NaN for one that is not positive and finite.
fn positive(x: f32) -> f32 {
    if x > 0.0 && x.is_finite() { x } else { f32::NAN }
}

/// A number for a kernel.
fn count(number: usize) -> Result<i32> {
    i32::try_from(number).map_err(|_| Error::Shape {
        operation: "attention, of fewer than 2^31 positions and tasks",
        required: vec![i32::MAX as usize],
        actual: vec![number],
    })
}
