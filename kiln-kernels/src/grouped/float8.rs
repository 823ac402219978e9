//! Products of FP8 numbers with scales: which instance computes one.

use kiln::{TensorArgumentMut, prelude::*};

use super::{
    Extents, Grouped, Options, fit, fits, gathered::kernels::float8 as gathered,
    listed::kernels::float8 as listed,
};
use crate::{
    Operand,
    activation::number_of,
    shape::{count, require},
};

mod kernel;

use kernel::{pipelined::product as pipelined, specialized::product as specialized};

/// A tensor of FP8 numbers, and by what they are multiplied.
#[derive(Clone, Copy, Debug)]
pub struct Scaled<'a, const R: usize, T = e4m3> {
    /// The numbers, with `k` along the last axis.
    pub numbers: &'a DeviceTensor<T, R>,
    /// A scale for each row, in a tensor of the same shape but for a last axis of 1.
    pub scales: &'a DeviceTensor<f32, R>,
}

impl Grouped {
    /// [`product`](Grouped::product) of FP8 numbers, with a scale for each row of `a` and of the weights:
    /// `c[row] = scale[row] · scales[e] · (a[row] · b[e]ᵀ)` for the rows of each expert `e`.
    ///
    /// Weights are [`e4m3`], and `a` is [`e4m3`] or, as gradients are in training, [`e5m2`]. `a` has the shape `[rows, k]`, with scales
    /// `[rows, 1]`; `b` has `[experts, n, k]`, with scales `[experts, n, 1]`. An axis of scales may also be 1: `[1, 1]` are those of an `a` with one scale, and `[experts, 1, 1]` those of weights with one for each expert.
    /// `pointwise::quantize` makes such numbers of rows, and a router's weights of rows may be part of their scales. Of other scales, experts
    /// are multiplied one by one by `QuantizedMatmul::float8`.
    ///
    /// Any strides are possible. Fast are those that TMA takes: `a` and `b` contiguous along `k` and `c` along `n`, with rows that begin at
    /// multiples of 16 bytes; so `k` of contiguous tensors is a multiple of 16, and `n` of 8. `wgmma` keeps 14 bits of the sums of 32
    /// products; those of each 128 are added in f32, and multiplied by the scales. Results are rounded once.
    ///
    /// ```
    /// use kiln::prelude::*;
    /// use kiln_kernels::grouped::{Grouped, Scaled};
    ///
    /// let stream = Device::best_for(Grouped::FLOAT8_TARGETS)?.stream()?;
    /// // Two experts of 16 inputs and 8 outputs: the first one has a row, the second one two.
    /// let weights = stream.full([2, 8, 16], e4m3::from_f32(0.5))?;
    /// let of_experts = stream.upload(&[1.0, 3.0], [2, 1, 1])?;
    /// let rows = stream.full([3, 16], e4m3::from_f32(2.0))?;
    /// let of_rows = stream.upload(&[1.0, 1.0, 0.25], [3, 1])?;
    /// let offsets = stream.upload(&[0, 1, 3], [3])?;
    /// let mut out = stream.zeros::<bf16, 2>([3, 8])?;
    /// let a = Scaled { numbers: &rows, scales: &of_rows };
    /// let b = Scaled { numbers: &weights, scales: &of_experts };
    /// Grouped::new(&stream)?.product_float8(&stream, a, b, &offsets, &mut out)?;
    /// let out: Vec<f32> = out.to_vec(&stream)?.into_iter().map(bf16::to_f32).collect();
    /// assert_eq!(out, [[16.0; 8], [48.0; 8], [12.0; 8]].concat());
    /// # Ok::<(), kiln::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::TargetNotRunnable`] on a GPU without FP8, before `sm_89`; those of [`product`](Grouped::product).
    pub fn product_float8<A: Operand<bf16, e4m3>>(
        &self,
        stream: &Stream,
        a: Scaled<'_, 2, A>,
        b: Scaled<'_, 3>,
        offsets: &DeviceTensor<i32, 1>,
        c: &mut impl TensorArgumentMut<bf16, 2>,
    ) -> Result<()> {
        self.product_float8_with(stream, a, b, offsets, c, Options::default())
    }

    /// [`product_float8`](Grouped::product_float8) with [`Options`], of which each sum is multiplied by the scales of its row and column
    /// before anything else. The scales of `a` are of its own rows, which a list `gather` may name in any order. Fast are the same tensors,
    /// and with a list an `a` that begins anywhere but is contiguous along `k`, in rows of multiples of 16 bytes.
    ///
    /// # Errors
    /// Those of [`product_float8`](Grouped::product_float8) and of [`product_with`](Grouped::product_with).
    pub fn product_float8_with<A: Operand<bf16, e4m3>>(
        &self,
        stream: &Stream,
        a: Scaled<'_, 2, A>,
        b: Scaled<'_, 3>,
        offsets: &DeviceTensor<i32, 1>,
        c: &mut impl TensorArgumentMut<bf16, 2>,
        options: Options<'_, bf16>,
    ) -> Result<()> {
        let ([tokens, _], c_shape) = (a.numbers.shape(), c.tensor_mut()?.shape());
        let shape = fit(a.numbers.shape(), b.numbers.shape(), offsets, c_shape, &options)?;
        let [experts, _, n] = shape;
        let a_scales = &of_all("scales of rows", a.scales, [tokens, 1])?;
        let b_scales = &of_all("scales of weights", b.scales, [experts, n, 1])?;
        if shape.contains(&0) || c_shape[0] == 0 {
            return Ok(());
        }
        let no_bias = stream.empty([0, 0])?;
        let job = Job {
            extents: Extents { multiprocessors: self.multiprocessors, shape },
            a: a.numbers,
            b: b.numbers,
            a_scales,
            b_scales,
            offsets,
            scale: options.scale,
            bias: options.bias.unwrap_or(&no_bias),
            activation: number_of(options.activation),
            weights: options.weights.unwrap_or(&self.no_weights),
        };
        let by_tma = self.hopper && fits(b.numbers);
        if options.gather.is_some() || options.scatter.is_some() {
            let gather = options.gather.unwrap_or(&self.no_list);
            let scatter = options.scatter.unwrap_or(&self.no_list);
            if by_tma && !a.numbers.is_empty() {
                job.gathered(stream, gather, scatter, c)
            } else {
                job.listed(stream, gather, scatter, c)
            }
        } else if by_tma && fits(a.numbers) && fits(&*c.tensor_mut()?) && n.is_multiple_of(8) {
            job.specialized(stream, c)
        } else {
            job.pipelined(stream, c)
        }
    }
}

/// A product whose shapes fit together, as the kernels take it.
struct Job<'a, A> {
    extents: Extents,
    a: &'a DeviceTensor<A, 2>,
    b: &'a DeviceTensor<e4m3, 3>,
    a_scales: &'a TensorView<'a, f32, 2>,
    b_scales: &'a TensorView<'a, f32, 3>,
    offsets: &'a DeviceTensor<i32, 1>,
    scale: f32,
    bias: &'a DeviceTensor<bf16, 2>,
    activation: i32,
    weights: &'a DeviceTensor<f32, 1>,
}

impl<A: Operand<bf16, e4m3>> Job<'_, A> {
    /// Whether there are tiles for few rows. There are none for `e5m2`: gradients have many rows.
    fn has_small_tiles() -> bool {
        Dtype::of::<A>() == Dtype::of::<e4m3>()
    }

    fn specialized(&self, stream: &Stream, c: &mut impl TensorArgumentMut<bf16, 2>) -> Result<()> {
        let least = if Self::has_small_tiles() { 16 } else { 64 };
        let key = (Dtype::of::<A>(), self.extents.height(128).max(least));
        let instance = specialized::find(|i| (i.T, i.BM) == key)?;
        let &Job { a, b, a_scales, b_scales, offsets, scale, bias, activation, weights, .. } = self;
        let blocks = self.extents.blocks(self.extents.tiles(instance.BM, instance.BN), 1)?;
        instance
            .with(specialized::Args {
                a,
                b,
                a_scales,
                b_scales,
                offsets,
                c,
                blocks,
                scale,
                bias,
                activation,
                weights,
            })
            .launch(stream)
    }

    fn pipelined(&self, stream: &Stream, c: &mut impl TensorArgumentMut<bf16, 2>) -> Result<()> {
        let few = self.extents.mean() <= 16 && Self::has_small_tiles();
        let key = (Dtype::of::<A>(), if few { 16 } else { 128 });
        let instance = pipelined::find(|i| (i.T, i.BM) == key)?;
        let &Job { a, b, a_scales, b_scales, offsets, scale, bias, activation, weights, .. } = self;
        let blocks = self.extents.blocks(self.extents.tiles(instance.BM, instance.BN), 2)?;
        instance
            .with(pipelined::Args {
                a,
                b,
                a_scales,
                b_scales,
                offsets,
                c,
                blocks,
                scale,
                bias,
                activation,
                weights,
            })
            .launch(stream)
    }

    fn gathered(
        &self,
        stream: &Stream,
        gather: &DeviceTensor<i32, 1>,
        scatter: &DeviceTensor<i32, 1>,
        c: &mut impl TensorArgumentMut<bf16, 2>,
    ) -> Result<()> {
        let [height, width] = if !Self::has_small_tiles() {
            [128, 128]
        } else if self.extents.mean() <= 16 {
            [16, 128]
        } else if 2 * self.extents.tiles(128, 128) < self.extents.multiprocessors {
            [128, 64]
        } else {
            [128, 128]
        };
        let key = (Dtype::of::<A>(), height, width);
        let instance = gathered::find(|i| (i.T, i.BM, i.BN) == key)?;
        let &Job { a, b, a_scales, b_scales, offsets, scale, bias, activation, weights, .. } = self;
        let blocks = self.extents.blocks(self.extents.tiles(instance.BM, instance.BN), 1)?;
        instance
            .with(gathered::Args {
                a,
                b,
                a_scales,
                b_scales,
                offsets,
                c,
                gather,
                scatter,
                rows: count(self.extents.shape[1])?,
                blocks,
                scale,
                bias,
                activation,
                weights,
            })
            .launch(stream)
    }

    fn listed(
        &self,
        stream: &Stream,
        gather: &DeviceTensor<i32, 1>,
        scatter: &DeviceTensor<i32, 1>,
        c: &mut impl TensorArgumentMut<bf16, 2>,
    ) -> Result<()> {
        let &Job { a, b, a_scales, b_scales, offsets, scale, bias, activation, weights, .. } = self;
        listed::find(|i| i.T == Dtype::of::<A>())?
            .with(listed::Args {
                a,
                b,
                a_scales,
                b_scales,
                offsets,
                c,
                gather,
                scatter,
                rows: count(self.extents.shape[1])?,
                blocks: self.extents.blocks(self.extents.tiles(64, 128), 2)?,
                scale,
                bias,
                activation,
                weights,
            })
            .launch(stream)
    }
}

/// Scales for all rows, of which those along axes of 1 are repeated.
fn of_all<'a, const R: usize>(
    operation: &'static str,
    scales: &'a DeviceTensor<f32, R>,
    shape: [usize; R],
) -> Result<TensorView<'a, f32, R>> {
    let actual = scales.shape();
    let repeated = |axis: usize| actual[axis] == 1 && shape[axis] != 1;
    let required = std::array::from_fn(|axis| if repeated(axis) { 1 } else { shape[axis] });
    require(operation, required, actual)?;
    let strides = scales.strides();
    scales.as_strided(
        shape,
        std::array::from_fn(|axis| if repeated(axis) { 0 } else { strides[axis] }),
    )
}
