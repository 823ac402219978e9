//! Products of operands of one byte.

#![expect(clippy::many_single_char_names, reason = "the letters of a product")]

use kiln::{TensorArgument, TensorArgumentMut, prelude::*};

use super::{QuantizedMatmul, begin_at_pieces};
use crate::{
    Real,
    shape::{extent, require},
};

mod hopper;
mod plain;

use hopper::specialized;
use plain::pipelined;

/// A matrix of quantised numbers and their scales.
#[derive(Debug)]
pub struct Scaled<'a, T> {
    /// The numbers, `[rows, k]`. Rows are contiguous.
    pub numbers: &'a DeviceTensor<T, 2>,
    /// By what they are multiplied.
    pub scales: &'a DeviceTensor<f32, 2>,
}

impl<T> Clone for Scaled<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Scaled<'_, T> {}

/// Which numbers of FP8 share a scale. `pointwise::quantize` makes such operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Float8Scales {
    /// Of `a`, 128 neighbours along `k`: scales are `[m, k.div_ceil(128)]`. Of `b`, squares of 128 by 128: scales are
    /// `[n.div_ceil(128), k.div_ceil(128)]`. What is left at edges are smaller blocks. These are `Scaling::RowBlocks` and
    /// `Scaling::Squares`.
    Blocks,
    /// Each row of `a` and of `b`, `Scaling::Rows`: scales are `[m, 1]` and `[n, 1]`. Either may be `[1, 1]`, for the whole matrix.
    Rows,
}

/// From so many rows on, GPUs with `wgmma` use it in any case. Fewer rows take the time of reading the weights.
const MANY_ROWS: usize = 65;
/// Steps along `k` are of so many numbers, which have one scale.
const STEP: usize = 128;
/// Rows of weights of a tile for few rows.
const FEW_TILE: usize = 128;

impl QuantizedMatmul {
    /// `c = a · bᵀ` for FP8 numbers `a` of shape `[m, k]` and `b` of shape `[n, k]`, with scales, and `c` of shape `[m, n]`.
    ///
    /// Products of 128 numbers along `k` are summed by the tensor cores, and these sums, times the scales of blocks, in f32. `c` is rounded
    /// once. A GPU with `wgmma` uses it for 65 rows or more, and for fewer if `n` gives each multiprocessor 128 rows of `b`; it keeps 14 bits of
    /// the sums of 32 products.
    ///
    /// Any extents will do, and may be 0: without `k` all sums are 0. If rows do not begin at multiples of 16 bytes, products are slower:
    /// of contiguous tensors, `k` should be a multiple of 16 and `n` of 8.
    ///
    /// For one scale of each tensor on a GPU with FP8, take [`Matmul::product_float8`](crate::matmul::Matmul::product_float8).
    ///
    /// ```
    /// use kiln::prelude::*;
    /// use kiln_kernels::quantized::{Float8Scales, QuantizedMatmul, Scaled};
    ///
    /// let stream = Device::best_for(QuantizedMatmul::TARGETS)?.stream()?;
    /// let (a, a_scales) = (stream.full([2, 256], e4m3::from_f32(1.5))?, stream.full([2, 2], 2.0)?);
    /// let (b, b_scales) = (stream.full([16, 256], e4m3::from_f32(2.0))?, stream.full([1, 2], 0.5)?);
    /// let mut c = stream.zeros::<bf16, 2>([2, 16])?;
    /// let (a, b) = (Scaled { numbers: &a, scales: &a_scales }, Scaled { numbers: &b, scales: &b_scales });
    /// QuantizedMatmul::new(&stream)?.float8(&stream, Float8Scales::Blocks, a, b, &mut c)?;
    /// assert!(c.to_vec(&stream)?.iter().all(|c| c.to_f32() == 768.0));
    /// # Ok::<(), kiln::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Shape`] for extents that do not fit together, [`Error::FactBroken`] for rows that are not contiguous, those of allocations
    /// and launches.
    pub fn float8(
        &mut self,
        stream: &Stream,
        scales: Float8Scales,
        a: Scaled<'_, e4m3>,
        b: Scaled<'_, e4m3>,
        c: &mut impl TensorArgumentMut<bf16, 2>,
    ) -> Result<()> {
        let [m, n, k] = extents(a.numbers, b.numbers, c.tensor_mut()?.shape())?;
        if m == 0 || n == 0 {
            return Ok(());
        }
        let blocks = scales == Float8Scales::Blocks;
        let (a_scales, b_scales) = match scales {
            Float8Scales::Blocks => {
                let steps = k.div_ceil(STEP);
                require("FP8 in blocks, of scales of a", [m, steps], a.scales.shape())?;
                let squares = [n.div_ceil(STEP), steps];
                require("FP8 in blocks, of scales of b", squares, b.scales.shape())?;
                (a.scales.view(), b.scales.view())
            }
            Float8Scales::Rows => (of_rows(a.scales, m)?, of_rows(b.scales, n)?),
        };
        let (a, b, a_scales, b_scales) = (a.numbers, b.numbers, &a_scales, &b_scales);
        // With fewer tiles, multiprocessors share the steps of each.
        let wide = m < MANY_ROWS && n.div_ceil(FEW_TILE) >= self.multiprocessors;
        if self.hopper && wide && k > 0 && begin_at_pieces(a) && begin_at_pieces(b) {
            return specialized::float8_of_few::find(|one| {
                one.BLOCKS == blocks && extent(one.BM) >= m.min(64)
            })?
            .with(specialized::float8_of_few::Args { a, b, a_scales, b_scales, c })
            .launch(stream);
        }
        let fits = self.fits(a, b, &*c.tensor_mut()?);
        if fits {
            let bm = self.rows_of_tile(m, n);
            return specialized::float8::find(|one| (one.BLOCKS, one.BM) == (blocks, bm))?
                .with(specialized::float8::Args { a, b, a_scales, b_scales, c })
                .launch(stream);
        }
        let instance = pipelined::float8::find(|one| extent(one.BM) >= m.min(32))?;
        self.share(stream, [n, m], [FEW_TILE, extent(instance.BM)], k, |mut sharing| {
            let (parts, arrived) = (&mut sharing.parts, sharing.arrived);
            let shares = sharing.shares;
            instance
                .with(pipelined::float8::Args {
                    a,
                    b,
                    a_scales,
                    b_scales,
                    c,
                    parts,
                    arrived,
                    shares,
                    blocks,
                })
                .launch(stream)
        })
    }

    /// `c = a · bᵀ` for integers `a` of shape `[m, k]` and `b` of shape `[n, k]`, with scales, and `c` of shape `[m, n]`.
    ///
    /// Each row of `a` and of `b` has a scale: scales are `[m, 1]` and `[n, 1]`. Either may be `[1, 1]`, for the whole matrix. Sums are
    /// those of [`int8_sums`](QuantizedMatmul::int8_sums), rounded to f32, multiplied by the scale of `b` and then by that of `a`, and
    /// rounded to `T`.
    ///
    /// # Errors
    /// [`Error::Shape`] for extents that do not fit together, [`Error::FactBroken`] for rows that are not contiguous, those of allocations
    /// and launches.
    pub fn int8<T: Real>(
        &mut self,
        stream: &Stream,
        a: Scaled<'_, i8>,
        b: Scaled<'_, i8>,
        c: &mut impl TensorArgumentMut<T, 2>,
    ) -> Result<()> {
        let [m, n, _] = extents(a.numbers, b.numbers, c.tensor_mut()?.shape())?;
        let (a_scales, b_scales) = (of_rows(a.scales, m)?, of_rows(b.scales, n)?);
        let (a, b) = ((a.numbers, &*a_scales), (b.numbers, &*b_scales));
        self.integers(stream, a, b, c)
    }

    /// `c = a · bᵀ` for integers `a` of shape `[m, k]` and `b` of shape `[n, k]`, and sums `c` of shape `[m, n]`.
    ///
    /// Sums are exact up to a `k` of 131071; longer ones wrap.
    ///
    /// Any extents will do, and may be 0: without `k` all sums are 0. If rows do not begin at multiples of 16 bytes, products are slower:
    /// of contiguous tensors, `k` should be a multiple of 16 and `n` of 4.
    ///
    /// # Errors
    /// [`Error::Shape`] for extents that do not fit together, [`Error::FactBroken`] for rows that are not contiguous, those of allocations
    /// and launches.
    pub fn int8_sums(
        &mut self,
        stream: &Stream,
        a: &impl TensorArgument<i8, 2>,
        b: &impl TensorArgument<i8, 2>,
        c: &mut impl TensorArgumentMut<i32, 2>,
    ) -> Result<()> {
        let (a, b, none) = (a.tensor()?, b.tensor()?, stream.empty([0, 0])?);
        self.integers(stream, (&a, &none), (&b, &none), c)
    }

    /// Products of integers with their scales. Results are of a type that kernels are compiled for.
    fn integers<R: Element>(
        &mut self,
        stream: &Stream,
        (a, a_scales): (&DeviceTensor<i8, 2>, &DeviceTensor<f32, 2>),
        (b, b_scales): (&DeviceTensor<i8, 2>, &DeviceTensor<f32, 2>),
        c: &mut impl TensorArgumentMut<R, 2>,
    ) -> Result<()> {
        let [m, n, k] = extents(a, b, c.tensor_mut()?.shape())?;
        if m == 0 || n == 0 {
            return Ok(());
        }
        let result = Dtype::of::<R>();
        if self.fits(a, b, &*c.tensor_mut()?) {
            let bm = self.rows_of_tile(m, n);
            return specialized::int8::find(|one| (one.R, one.BM) == (result, bm))?
                .with(specialized::int8::Args { a, b, a_scales, b_scales, c })
                .launch(stream);
        }
        let instance = pipelined::int8::find(|one| one.R == result && extent(one.BM) >= m.min(32))?;
        self.share(stream, [n, m], [FEW_TILE, extent(instance.BM)], k, |mut sharing| {
            let parts = &mut sharing.parts.reinterpret_mut()?;
            let (arrived, shares) = (sharing.arrived, sharing.shares);
            instance
                .with(pipelined::int8::Args { a, b, a_scales, b_scales, c, parts, arrived, shares })
                .launch(stream)
        })
    }

    /// The rows of `a` of a tile, if `wgmma` multiplies: fewer if there were not enough tiles for all multiprocessors.
    fn rows_of_tile(&self, m: usize, n: usize) -> i32 {
        let many = m.div_ceil(128) * n.div_ceil(128) >= self.multiprocessors;
        if many { 128 } else { 64 }
    }

    /// Whether `wgmma` multiplies: for many rows, which TMA can copy.
    fn fits<T, R>(
        &self,
        a: &DeviceTensor<T, 2>,
        b: &DeviceTensor<T, 2>,
        c: &DeviceTensor<R, 2>,
    ) -> bool {
        let [rows, k] = a.shape();
        let many = self.hopper && rows >= MANY_ROWS && k > 0;
        many && begin_at_pieces(a) && begin_at_pieces(b) && begin_at_pieces(c)
    }
}

/// `[m, n, k]`.
fn extents<T>(a: &DeviceTensor<T, 2>, b: &DeviceTensor<T, 2>, c: [usize; 2]) -> Result<[usize; 3]> {
    let ([m, k], [n, depth]) = (a.shape(), b.shape());
    require("a product a · bᵀ, of b", [n, k], [n, depth])?;
    require("a product a · bᵀ, of c", [m, n], c)?;
    Ok([m, n, k])
}

/// A scale for each row, or one for all of them.
fn of_rows(scales: &DeviceTensor<f32, 2>, rows: usize) -> Result<TensorView<'_, f32, 2>> {
    if scales.shape() == [1, 1] {
        return scales.as_strided([rows, 1], [0, 1]);
    }
    require("scales of rows", [rows, 1], scales.shape())?;
    Ok(scales.view())
}
