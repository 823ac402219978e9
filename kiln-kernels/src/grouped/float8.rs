//! Products of FP8 numbers with scales: which instance computes one.

use kiln::{TensorArgumentMut, prelude::*};

use super::{Extents, Grouped, fits};
use crate::{Operand, shape::require};

mod kernel;

use kernel::{pipelined, specialized};

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
    /// Weights are [`e4m3`], and `a` is [`e4m3`] or, as gradients are in training, [`e5m2`]. `a` has the shape `[rows, k]`, with scales `[rows, 1]`; `b` has `[experts, n, k]`, with scales `[experts, n, 1]`. An axis of scales
    /// may also be 1: `[1, 1]` are those of an `a` with one scale, and `[experts, 1, 1]` those of weights with one for each expert.
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
    #[expect(clippy::many_single_char_names, reason = "the letters of a product")]
    pub fn product_float8<A: Operand<bf16, e4m3>>(
        &self,
        stream: &Stream,
        a: Scaled<'_, 2, A>,
        b: Scaled<'_, 3>,
        offsets: &DeviceTensor<i32, 1>,
        c: &mut impl TensorArgumentMut<bf16, 2>,
    ) -> Result<()> {
        let ([rows, k], [experts, n, depth]) = (a.numbers.shape(), b.numbers.shape());
        require("a grouped product of FP8, of b", [experts, n, k], [experts, n, depth])?;
        let operation = "a grouped product of FP8, of offsets";
        require(operation, [offsets.len().max(experts + 1)], offsets.shape())?;
        require("a grouped product of FP8, of c", [rows, n], c.tensor_mut()?.shape())?;
        let a_scales = &of_all("scales of rows", a.scales, [rows, 1])?;
        let b_scales = &of_all("scales of weights", b.scales, [experts, n, 1])?;
        if experts == 0 || rows == 0 || n == 0 {
            return Ok(());
        }
        let (a, b) = (a.numbers, b.numbers);
        let extents = Extents { multiprocessors: self.multiprocessors, shape: [experts, rows, n] };
        let by_tma = self.hopper && fits(a) && fits(b) && fits(&*c.tensor_mut()?);
        let dtype = Dtype::of::<A>();
        if by_tma && n.is_multiple_of(8) {
            // Rows of `e5m2` are many: there is no tile for few of them.
            let least = if dtype == Dtype::of::<e4m3>() { 16 } else { 64 };
            let key = (dtype, extents.height(128).max(least));
            let instance = specialized::product::find(|i| (i.T, i.BM) == key)?;
            let blocks = extents.blocks(extents.tiles(instance.BM, instance.BN), 1)?;
            instance
                .with(specialized::product::Args { a, b, a_scales, b_scales, offsets, c, blocks })
                .launch(stream)
        } else {
            let few = extents.mean() <= 16 && dtype == Dtype::of::<e4m3>();
            let key = (dtype, if few { 16 } else { 128 });
            let instance = pipelined::product::find(|i| (i.T, i.BM) == key)?;
            let blocks = extents.blocks(extents.tiles(instance.BM, instance.BN), 2)?;
            instance
                .with(pipelined::product::Args { a, b, a_scales, b_scales, offsets, c, blocks })
                .launch(stream)
        }
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
