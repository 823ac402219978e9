//! The gradients of attention.

use kiln::{TensorArgument, TensorArgumentMut, TensorRef, prelude::*};

use super::{Attention, Factors, Options, Ragged, count};
use crate::{
    Half,
    shape::{extent, require},
};

mod kernels;
mod sums;
mod weights;

use kernels::recomputed::{
    CommonArgs, of_keys_pipelined, of_keys_specialized, of_queries_pipelined,
    of_queries_specialized,
};
use sums::of_results::{self, prepare};
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

/// Takes the gradients of queries, keys and values. Each has the shape of its tensor, and is overwritten.
pub struct Gradients<'a, T> {
    /// Of the queries.
    pub dq: &'a mut dyn TensorArgumentMut<T, 4>,
    /// Of the keys.
    pub dk: &'a mut dyn TensorArgumentMut<T, 4>,
    /// Of the values.
    pub dv: &'a mut dyn TensorArgumentMut<T, 4>,
}

impl<T> std::fmt::Debug for Given<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Given").field("lse", &self.lse).finish_non_exhaustive()
    }
}

impl<T> std::fmt::Debug for Gradients<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gradients").finish_non_exhaustive()
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
    /// use kiln_kernels::attention::{Attention, Given, Gradients, Mask, Options};
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
    /// let gradients = Gradients { dq: &mut dq, dk: &mut dk, dv: &mut dv };
    /// attention.backward(&stream, &q, &k, &v, given, gradients, options())?;
    /// // The first value counts for the first query alone, for the second by a half, and so on.
    /// assert_eq!(dv.to_vec(&stream)?[0].to_f32(), 2.078125); // 1 + 1/2 + 1/3 + 1/4
    /// # Ok::<(), kiln::Error>(())
    /// ```
    ///
    /// The sums are in a fixed order: results are the same in every run. Strides are any; rows that begin at multiples of 16 bytes are
    /// faster. Gradients are computed in f32 and rounded once, but the weights, and the gradients of scores, are rounded to the element
    /// type, because the tensor cores multiply them. In f16 the latter may exceed the range, as the gradient of the result times a value.
    ///
    /// NaN and infinities spread as the formula says. Those of a query and a key of which one does not see the other may give NaN in the
    /// gradients of both, because their weight is 0.
    ///
    /// # Errors
    /// [`Error::Shape`] for extents that do not fit together; those of allocations and launches.
    #[expect(clippy::too_many_arguments, reason = "attention has as many")]
    pub fn backward<T: Half>(
        &mut self,
        stream: &Stream,
        q: &impl TensorArgument<T, 4>,
        k: &impl TensorArgument<T, 4>,
        v: &impl TensorArgument<T, 4>,
        given: Given<'_, T>,
        gradients: Gradients<'_, T>,
        options: Options<'_>,
    ) -> Result<()> {
        let inputs = [q.tensor()?, k.tensor()?, v.tensor()?];
        self.launch_backward(
            stream,
            inputs,
            given,
            gradients,
            None,
            &Options { lse: None, ..options },
        )
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
        options: Options<'_>,
    ) -> Result<()> {
        let inputs = [q.tensor()?, k.tensor()?, v.tensor()?];
        ragged.check(inputs[0].shape()[0])?;
        self.launch_backward(
            stream,
            inputs,
            given,
            gradients,
            Some(ragged),
            &Options { lse: None, ..options },
        )
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
        let value_dim = v.shape()[3];
        let (out, d_out) = (given.out.tensor()?, given.d_out.tensor()?);
        let Gradients { dq, dk, dv } = gradients;
        require("k of attention", [batch, keys, key_heads, dim], k.shape())?;
        require("v of attention", [batch, keys, key_heads, value_dim], v.shape())?;
        let of_result = [batch, queries, heads, value_dim];
        require("out of attention", of_result, out.shape())?;
        require("d_out of attention", of_result, d_out.shape())?;
        require("lse of attention", [batch, heads, queries], given.lse.shape())?;
        require("dq of attention", q.shape(), dq.tensor_mut()?.shape())?;
        require("dk of attention", k.shape(), dk.tensor_mut()?.shape())?;
        require("dv of attention", v.shape(), dv.tensor_mut()?.shape())?;
        options.check([batch, queries, heads, key_heads], [dim, value_dim])?;
        let Factors { scale, inner, unit } = options.factors(dim);
        let [left, right] = options.mask.reach();
        let (sequences, longest) = match &ragged {
            Some(Ragged { offsets, longest, .. }) => (offsets.len() - 1, queries.min(*longest)),
            None => (batch, queries),
        };
        if sequences == 0 || batch == 0 {
            return Ok(());
        }

        let t = Dtype::of::<T>();
        let (offsets, key_offsets) = match ragged {
            Some(Ragged { offsets, key_offsets, .. }) => (offsets, key_offsets),
            None => (&self.no_offsets, &self.no_offsets),
        };
        // How many pieces of so many rows there are. Those of ragged sequences begin at any place, and each has up to one more for that.
        let pieces = |rows: usize, of: i32| match ragged {
            Some(_) => rows / extent(of) + sequences,
            None => rows.div_ceil(extent(of)),
        };
        let rows = pieces(queries, ROWS) * extent(ROWS);
        let len = 2 * batch * heads * rows;
        if self.parts.len() < len {
            self.parts = stream.empty([len])?;
        }
        let sums = self.parts.view_mut().into_slice(0, 0..len)?;
        let mut sums = sums.into_reshape([2, batch, heads, rows])?;
        if len > 0 {
            let (out, d_out, lse, sums) = (&out, &d_out, given.lse, &mut sums);
            let (blocks, longest) = (count(rows / extent(of_results::R))?, count(longest)?);
            prepare::Values { T: t }
                .find()?
                .with(prepare::Args { out, d_out, lse, offsets, sums, blocks, longest })
                .launch(stream)?;
        }

        let slopes = options.slopes.unwrap_or(&self.no_slopes);
        let factor = options.true_scale(dim);
        let changed = options.soft_cap.is_some() || options.slopes.is_some();
        let widest = dim.max(value_dim);
        // The largest extent that the kernels for Hopper have.
        let specialized = self.hopper && widest <= 128;
        let common = |blocks: usize, planes: usize| -> Result<_> {
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
                factor,
            })
        };
        let (q, k, v, d_out, sums) = (&q, &k, &v, &d_out, &sums);
        if keys > 0 && key_heads > 0 {
            if specialized {
                let common = common(pieces(keys, 128), batch)?;
                of_keys_specialized::instances()
                    .find(|one| t == one.T && widest <= extent(one.D) && changed == one.CHANGED)
                    .expect("there are instances for extents of 128")
                    .with(of_keys_specialized::Args { q, k, v, d_out, sums, dk, dv, common })
                    .launch(stream)?;
            } else {
                let instance = of_keys_pipelined::instances()
                    .find(|one| t == one.T && widest <= extent(one.D))
                    .expect("there is an instance for extents of 256");
                let common = common(pieces(keys, instance.N), batch)?;
                instance
                    .with(of_keys_pipelined::Args { q, k, v, d_out, sums, dk, dv, common })
                    .launch(stream)?;
            }
        }
        if longest > 0 && heads > 0 {
            if specialized {
                let common = common(longest.div_ceil(128), sequences)?;
                of_queries_specialized::instances()
                    .find(|one| t == one.T && widest <= extent(one.D) && changed == one.CHANGED)
                    .expect("there are instances for extents of 128")
                    .with(of_queries_specialized::Args { q, k, v, d_out, dq, sums, common })
                    .launch(stream)?;
            } else {
                let instance = of_queries_pipelined::instances()
                    .find(|one| t == one.T && widest <= extent(one.D))
                    .expect("there is an instance for extents of 256");
                let common = common(longest.div_ceil(extent(instance.M)), sequences)?;
                instance
                    .with(of_queries_pipelined::Args { q, k, v, d_out, sums, dq, common })
                    .launch(stream)?;
            }
        }
        Ok(())
    }
}
