//! The gradients of attention.

use kiln::{TensorArgument, TensorArgumentMut, TensorRef, prelude::*};

use super::{Attention, Factors, Kernels, Options, Ragged, count};
use crate::{
    Half,
    scratch::shaped,
    shape::{extent, require},
};

mod kernels;
mod sums;
mod weights;

use kernels::recomputed::{
    CommonArgs, of_keys_pipelined, of_keys_specialized, of_queries_pipelined,
    of_queries_specialized,
};
use sums::of_results::{self, finish, logarithms, prepare};
use weights::items::ROWS;

/// What [`Attention::forward`] gave, and the gradient of its result.
#[derive(Clone, Copy)]
pub struct Given<'a, T> {
    /// The result: `[batch, queries, heads, value dim]`.
    pub out: &'a dyn TensorArgument<T, 4>,
    /// The logarithms of the totals, which [`Options::lse`] took: `[batch, heads, queries]`.
    pub lse: &'a DeviceTensor<f32, 3>,
    /// The gradient of the result, of its shape.
    pub d_out: &'a dyn TensorArgument<T, 4>,
}

/// How the gradients of queries are added up, which several blocks have parts of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sums {
    /// By one block for each, which computes all scores once more. Results are the same in every run.
    #[default]
    InOrder,
    /// By atomic operations in any order, so that results may differ in their last bits from run to run: five products in place of seven.
    /// This takes scratch memory for the gradients of all queries in f32. Only Hopper does so, for heads of up to 128 without soft caps
    /// and slopes; otherwise it is [`InOrder`](Sums::InOrder).
    Atomic,
}

/// Takes the gradients of queries, keys and values. Each has the shape of its tensor, and is overwritten.
pub struct Gradients<'a, T> {
    /// Of the queries.
    pub dq: &'a mut dyn TensorArgumentMut<T, 4>,
    /// Of the keys.
    pub dk: &'a mut dyn TensorArgumentMut<T, 4>,
    /// Of the values.
    pub dv: &'a mut dyn TensorArgumentMut<T, 4>,
    /// How those of queries are added up.
    pub sums: Sums,
}

impl<T> std::fmt::Debug for Given<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Given").field("lse", &self.lse).finish_non_exhaustive()
    }
}

impl<T> std::fmt::Debug for Gradients<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gradients").field("sums", &self.sums).finish_non_exhaustive()
    }
}

impl Attention {
    /// The gradients of [`forward`](Attention::forward), from that of its result.
    ///
    /// Queries, keys, values and `options` are those of `forward`; `options.lse` is not used. Heads of queries that share a head of keys
    /// add up in its gradients. Keys that no query sees, and queries that see no key, have gradients of 0. Masks and slopes have none.
    ///
    /// ```
    /// use kiln::prelude::*;
    /// use kiln_kernels::attention::{Attention, Given, Gradients, Mask, Options, Sums};
    ///
    /// let device = Device::best_for(Attention::TARGETS)?;
    /// let stream = device.stream()?;
    /// let mut attention = Attention::new(&stream)?;
    ///
    /// let shape = [1, 4, 1, 64];
    /// let [q, k, v] = [0.5, 0.25, 3.0].map(|x| stream.full(shape, bf16::from_f32(x)));
    /// let (q, k, v) = (q?, k?, v?);
    /// let (mut out, mut lse) = (stream.zeros(shape)?, stream.zeros([1, 1, 4])?);
    /// let options = || Options { mask: Mask::Causal, ..Options::default() };
    /// let forward = Options { lse: Some(&mut lse), ..options() };
    /// attention.forward(&stream, &q, &k, &v, &mut out, forward)?;
    ///
    /// let d_out = stream.full(shape, bf16::ONE)?;
    /// let (mut dq, mut dk, mut dv) = (stream.zeros(shape)?, stream.zeros(shape)?, stream.zeros(shape)?);
    /// let given = Given { out: &out, lse: &lse, d_out: &d_out };
    /// let gradients = Gradients { dq: &mut dq, dk: &mut dk, dv: &mut dv, sums: Sums::InOrder };
    /// attention.backward(&stream, &q, &k, &v, given, gradients, &options())?;
    /// // The first value counts for the first query alone, for the second by a half, and so on.
    /// assert_eq!(dv.to_vec(&stream)?[0].to_f32(), 2.078125); // 1 + 1/2 + 1/3 + 1/4
    /// # Ok::<(), kiln::Error>(())
    /// ```
    ///
    /// With [`Sums::InOrder`] results are the same in every run. Strides are those of [`forward`](Attention::forward), of all tensors;
    /// heads wider than 128 take all strides on Hopper too. Gradients are computed in f32 and rounded once, but the weights, and the
    /// gradients of scores, are rounded to the element type, because the tensor cores multiply them. In f16 the latter may exceed the
    /// range, as the gradient of the result times a value.
    ///
    /// NaN and infinities spread as the formula says. Those of a query and a key of which one does not see the other may give NaN in the
    /// gradients of both, because their weight is 0.
    ///
    /// # Errors
    /// [`Error::Shape`] for extents that do not fit together, [`Error::FactBroken`] and [`Error::TensorMap`] for strides that TMA does not
    /// take, those of allocations and launches.
    #[expect(clippy::too_many_arguments, reason = "attention has as many")]
    pub fn backward<T: Half>(
        &mut self,
        stream: &Stream,
        q: &impl TensorArgument<T, 4>,
        k: &impl TensorArgument<T, 4>,
        v: &impl TensorArgument<T, 4>,
        given: Given<'_, T>,
        gradients: Gradients<'_, T>,
        options: &Options<'_>,
    ) -> Result<()> {
        let inputs = [q.tensor()?, k.tensor()?, v.tensor()?];
        self.launch_backward(stream, inputs, given, gradients, None, options)
    }

    /// [`backward`](Attention::backward) of [`forward_ragged`](Attention::forward_ragged).
    ///
    /// Gradients outside of all sequences are not written. Queries past the longest are left out of the gradients of keys and values.
    ///
    /// # Errors
    /// Those of [`forward_ragged`](Attention::forward_ragged) and [`backward`](Attention::backward).
    #[expect(clippy::too_many_arguments, reason = "attention has as many")]
    pub fn backward_ragged<T: Half>(
        &mut self,
        stream: &Stream,
        q: &impl TensorArgument<T, 4>,
        k: &impl TensorArgument<T, 4>,
        v: &impl TensorArgument<T, 4>,
        ragged: Ragged<'_>,
        given: Given<'_, T>,
        gradients: Gradients<'_, T>,
        options: &Options<'_>,
    ) -> Result<()> {
        let inputs = [q.tensor()?, k.tensor()?, v.tensor()?];
        ragged.check(inputs[0].shape()[0])?;
        self.launch_backward(stream, inputs, given, gradients, Some(ragged), options)
    }

    fn launch_backward<T: Half>(
        &mut self,
        stream: &Stream,
        [q, k, v]: [TensorRef<'_, T, 4>; 3],
        given: Given<'_, T>,
        gradients: Gradients<'_, T>,
        ragged: Option<Ragged<'_>>,
        options: &Options<'_>,
    ) -> Result<()> {
        let [batch, queries, heads, dim] = q.shape();
        let [_, keys, key_heads, _] = k.shape();
        let (out, d_out) = (given.out.tensor()?, given.d_out.tensor()?);
        let Gradients { dq, dk, dv, sums: order } = gradients;
        check([&q, &k, &v, &out, &d_out], given.lse, [dq, dk, dv])?;
        options.check([batch, queries, heads, key_heads], [dim, v.shape()[3]])?;
        let lengths = Lengths::new(&q, ragged.as_ref());
        if lengths.sequences == 0 || batch == 0 {
            return Ok(());
        }

        let changed = options.soft_cap.is_some() || options.slopes.is_some();
        let widest = dim.max(v.shape()[3]);
        // The largest extent that the kernels for Hopper have.
        let specialized = self.kernels == Kernels::Hopper && widest <= 128;
        let atomic = specialized && !changed && order == Sums::Atomic;
        let t = Dtype::of::<T>();
        let (offsets, key_offsets) = match ragged {
            Some(Ragged { offsets, key_offsets, .. }) => (offsets, key_offsets),
            None => (&self.no_offsets, &self.no_offsets),
        };
        let rows = lengths.pieces(queries, ROWS) * extent(ROWS);
        let shape = if atomic { [batch, heads, rows, dim] } else { [0; 4] };
        let mut sums = shaped(stream, &mut self.tops, [2, batch, heads, rows])?;
        let mut dq_sums = shaped(stream, &mut self.parts, shape)?;
        let longest = count(lengths.longest)?;
        let blocks = count(rows / extent(of_results::R))?;
        if queries > 0 && heads > 0 {
            let (lse, sums, dq) = (given.lse, &mut sums, &mut dq_sums);
            let pieces = count(rows / extent(ROWS))?;
            logarithms(logarithms::Args { lse, offsets, sums, blocks: pieces, longest })
                .launch(stream)?;
            let (out, d_out) = (&out, &d_out);
            prepare::Values { T: t }
                .find()?
                .with(prepare::Args { out, d_out, offsets, sums, dq, blocks, longest })
                .launch(stream)?;
        }

        let slopes = options.slopes.unwrap_or(&self.no_slopes);
        let common = |blocks: usize, planes: usize| {
            common([offsets, key_offsets], slopes, [blocks, planes, lengths.longest], options, dim)
        };
        let (q, k, v, d_out, sums) = (&q, &k, &v, &d_out, &sums);
        if keys > 0 && key_heads > 0 {
            if specialized {
                let common = common(lengths.pieces(keys, 128), batch)?;
                let dq = &mut dq_sums;
                of_keys_specialized::instances()
                    .find(|one| {
                        let fits = t == one.T && widest <= extent(one.D);
                        fits && changed == one.CHANGED && atomic == one.ATOMIC
                    })
                    .expect("there are instances for extents of 128")
                    .with(of_keys_specialized::Args { q, k, v, d_out, sums, dk, dv, dq, common })
                    .launch(stream)?;
            } else {
                let instance = of_keys_pipelined::instances()
                    .find(|one| t == one.T && widest <= extent(one.D))
                    .expect("there is an instance for extents of 256");
                let common = common(lengths.pieces(keys, instance.N), batch)?;
                instance
                    .with(of_keys_pipelined::Args { q, k, v, d_out, sums, dk, dv, common })
                    .launch(stream)?;
            }
        }
        if longest == 0 || heads == 0 {
            return Ok(());
        }
        if atomic {
            return finish::Values { T: t }
                .find()?
                .with(finish::Args {
                    sums: &dq_sums,
                    offsets,
                    dq,
                    blocks,
                    longest,
                    factor: options.true_scale(dim),
                })
                .launch(stream);
        }
        if specialized {
            let common = common(lengths.longest.div_ceil(128), lengths.sequences)?;
            return of_queries_specialized::instances()
                .find(|one| t == one.T && widest <= extent(one.D) && changed == one.CHANGED)
                .expect("there are instances for extents of 128")
                .with(of_queries_specialized::Args { q, k, v, d_out, dq, sums, common })
                .launch(stream);
        }
        let instance = of_queries_pipelined::instances()
            .find(|one| t == one.T && widest <= extent(one.D))
            .expect("there is an instance for extents of 256");
        let common = common(lengths.longest.div_ceil(extent(instance.M)), lengths.sequences)?;
        instance
            .with(of_queries_pipelined::Args { q, k, v, d_out, sums, dq, common })
            .launch(stream)
    }
}

/// The arguments that all kernels have. Numbers are those of blocks, of planes, and of the queries of a sequence.
fn common<'a>(
    [offsets, key_offsets]: [&'a DeviceTensor<i32, 1>; 2],
    slopes: &'a DeviceTensor<f32, 1>,
    [blocks, planes, longest]: [usize; 3],
    options: &Options<'_>,
    dim: usize,
) -> Result<CommonArgs<'a>> {
    let Factors { scale, inner, unit } = options.factors(dim);
    let [left, right] = options.mask.reach();
    Ok(CommonArgs {
        offsets,
        key_offsets,
        slopes,
        blocks: count(blocks)?,
        batch: count(planes)?,
        longest: count(longest)?,
        left,
        right,
        scale,
        inner,
        unit,
        factor: options.true_scale(dim),
    })
}

/// [`Error::Shape`] unless all tensors fit together.
fn check<T: Half>(
    [q, k, v, out, d_out]: [&DeviceTensor<T, 4>; 5],
    lse: &DeviceTensor<f32, 3>,
    gradients: [&mut dyn TensorArgumentMut<T, 4>; 3],
) -> Result<()> {
    let [batch, queries, heads, dim] = q.shape();
    let [_, keys, key_heads, _] = k.shape();
    let value_dim = v.shape()[3];
    require("k of attention", [batch, keys, key_heads, dim], k.shape())?;
    require("v of attention", [batch, keys, key_heads, value_dim], v.shape())?;
    require("out of attention", [batch, queries, heads, value_dim], out.shape())?;
    require("d_out of attention", out.shape(), d_out.shape())?;
    require("lse of attention", [batch, heads, queries], lse.shape())?;
    let [dq, dk, dv] = gradients;
    require("dq of attention", q.shape(), dq.tensor_mut()?.shape())?;
    require("dk of attention", k.shape(), dk.tensor_mut()?.shape())?;
    require("dv of attention", v.shape(), dv.tensor_mut()?.shape())
}

/// The lengths of sequences.
struct Lengths {
    sequences: usize,
    /// Queries of a sequence, at most.
    longest: usize,
    ragged: bool,
}

impl Lengths {
    fn new<T: Half>(q: &DeviceTensor<T, 4>, ragged: Option<&Ragged<'_>>) -> Lengths {
        let [batch, queries, ..] = q.shape();
        match ragged {
            Some(ragged) => Lengths {
                sequences: ragged.offsets.len() - 1,
                longest: ragged.longest.min(queries),
                ragged: true,
            },
            None => Lengths { sequences: batch, longest: queries, ragged: false },
        }
    }

    /// How many pieces of so many rows there are. Ragged sequences begin at any place, and each has up to one piece more for that.
    fn pieces(&self, rows: usize, of: i32) -> usize {
        if self.ragged { rows / extent(of) + self.sequences } else { rows.div_ceil(extent(of)) }
    }
}
