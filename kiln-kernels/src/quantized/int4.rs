//! Weights of four bits, and their products with activations.

#![expect(clippy::many_single_char_names, reason = "the letters of a product")]

use kiln::{TensorArgument, TensorArgumentMut, prelude::*};

use super::{QuantizedMatmul, begin_at_pieces};
use crate::{
    scratch::shaped,
    shape::{count, extent, require},
};

mod kernel;

use kernel::packed;

/// Weights `[n, k]` of four bits: `scale · (code - zero)`.
///
/// Each `group` of neighbours along `k` has a scale, and a zero point or 8 instead. A group is a multiple of 64 that divides `k`; it may
/// be all of `k`.
#[derive(Debug)]
pub struct Int4Weights {
    codes: DeviceTensor<u8, 2>,
    scales: DeviceTensor<bf16, 2>,
    zeros: Option<DeviceTensor<u8, 2>>,
    group: usize,
}

/// Which codes stand for zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZeroPoint {
    /// 8 everywhere: codes are numbers from -8 to 7, and the largest magnitude of a group is 7 times its scale.
    Middle,
    /// A code of each group, so that the codes from 0 to 15 reach from its least number to its greatest, of which one may be 0.
    OfGroup,
}

impl Int4Weights {
    /// Weights from their parts.
    ///
    /// | | shape | |
    /// |---|---|---|
    /// | `codes` | `[n, k / 2]` | two codes in a byte: the number with the even index in its low half |
    /// | `scales` | `[k / group, n]` | |
    /// | `zeros` | `[k / group, n]` | zero points, 0 to 15, one in a byte; without them all are 8 |
    ///
    /// # Errors
    /// [`Error::Shape`] if the shapes do not fit together, or if the group is not a multiple of 64 that divides `k`.
    pub fn new(
        codes: DeviceTensor<u8, 2>,
        scales: DeviceTensor<bf16, 2>,
        zeros: Option<DeviceTensor<u8, 2>>,
        group: usize,
    ) -> Result<Int4Weights> {
        let [n, bytes] = codes.shape();
        let groups = groups(2 * bytes, group)?;
        require("weights of four bits, of scales", [groups, n], scales.shape())?;
        if let Some(zeros) = &zeros {
            require("weights of four bits, of zero points", [groups, n], zeros.shape())?;
        }
        Ok(Int4Weights { codes, scales, zeros, group })
    }

    /// The nearest weights to those of a tensor `[n, k]`, in groups of 64 or 128.
    ///
    /// A scale is rounded to bf16, and a code is that of the number over the rounded scale, rounded to the nearest. A group of zeros has a
    /// scale of 1. What NaN and infinities become is not defined, and neither are the other numbers of their group.
    ///
    /// # Errors
    /// [`Error::Shape`] for a group that is neither 64 nor 128, or does not divide `k`; those of allocations and launches.
    pub fn quantize(
        stream: &Stream,
        x: &impl TensorArgument<bf16, 2>,
        group: usize,
        zero_point: ZeroPoint,
    ) -> Result<Int4Weights> {
        let x = x.tensor()?;
        let [n, k] = x.shape();
        let groups = groups(k, group)?;
        require("a group of quantisation to four bits, at most", [group.min(128)], [group])?;
        let mut codes = stream.empty([n, k / 2])?;
        let mut scales = stream.empty([groups, n])?;
        let mut zeros = match zero_point {
            ZeroPoint::Middle => None,
            ZeroPoint::OfGroup => Some(stream.empty([groups, n])?),
        };
        packed::quantize::find(|one| extent(one.G) == group)?
            .with(packed::quantize::Args {
                x: &x,
                codes: &mut codes,
                scales: &mut scales,
                zeros: zeros.as_mut().map(|zeros| zeros as _),
                least: f32::MIN_POSITIVE,
            })
            .launch(stream)?;
        Ok(Int4Weights { codes, scales, zeros, group })
    }

    /// The weights as numbers, each rounded once.
    ///
    /// # Errors
    /// [`Error::Shape`] for an `out` that is not `[n, k]`, those of launches.
    pub fn dequantize(
        &self,
        stream: &Stream,
        out: &mut impl TensorArgumentMut<bf16, 2>,
    ) -> Result<()> {
        require("dequantisation of four bits, of out", self.shape(), out.tensor_mut()?.shape())?;
        packed::dequantize::find(|_| true)?
            .with(packed::dequantize::Args {
                codes: &self.codes,
                scales: &self.scales,
                zeros: self.zeros.as_ref().map(|zeros| zeros as _),
                out,
                group: count(self.group)?,
            })
            .launch(stream)
    }

    /// `[n, k]`.
    pub fn shape(&self) -> [usize; 2] {
        let [n, bytes] = self.codes.shape();
        [n, 2 * bytes]
    }

    /// How many neighbours along `k` have one scale.
    pub fn group(&self) -> usize {
        self.group
    }

    /// The codes, see [`new`](Int4Weights::new).
    pub fn codes(&self) -> &DeviceTensor<u8, 2> {
        &self.codes
    }

    /// The scales.
    pub fn scales(&self) -> &DeviceTensor<bf16, 2> {
        &self.scales
    }

    /// The zero points.
    pub fn zeros(&self) -> Option<&DeviceTensor<u8, 2>> {
        self.zeros.as_ref()
    }
}

/// The number of groups along `k`.
fn groups(k: usize, group: usize) -> Result<usize> {
    let multiple = group.max(1).next_multiple_of(64);
    require("a group of weights of four bits, a multiple of 64", [multiple], [group])?;
    let whole = k.next_multiple_of(group);
    require("k of weights of four bits, a multiple of the group", [whole], [k])?;
    Ok(k / group)
}

/// From so many rows of activations on, weights are first made numbers.
const MANY_ROWS: usize = 257;

impl QuantizedMatmul {
    /// `c = a · bᵀ` for `a` of shape `[m, k]`, weights `b` of shape `[n, k]` and `c` of shape `[m, n]`.
    ///
    /// The products of a group are summed in f32 and then multiplied by its scale; sums are rounded once. From 257 rows of `a` on,
    /// weights are first made numbers, rounded to bf16, in `2 n k` bytes of scratch memory, if rows of `a` and `c` are contiguous and begin
    /// at multiples of 16 bytes.
    ///
    /// The gradient of `a` is the product of that of `c` by the weights as numbers: `Matmul::product` of it and of the transpose of what
    /// [`dequantize`](Int4Weights::dequantize) gives.
    ///
    /// Rows of `a` are contiguous. Any `m` and `n` will do, and may be 0; without `k` all sums are 0. Products are slower if rows of `a` or
    /// `c` do not begin at multiples of 16 bytes, or if `n` is not a multiple of 16.
    ///
    /// ```
    /// use kiln::prelude::*;
    /// use kiln_kernels::quantized::{Int4Weights, QuantizedMatmul, ZeroPoint};
    ///
    /// let stream = Device::best_for(QuantizedMatmul::TARGETS)?.stream()?;
    /// let mut matmul = QuantizedMatmul::new(&stream)?;
    /// let weights = stream.full([24, 128], bf16::from_f32(0.5))?;
    /// let weights = Int4Weights::quantize(&stream, &weights, 64, ZeroPoint::Middle)?;
    /// let x = stream.full([2, 128], bf16::from_f32(2.0))?;
    /// let mut y = stream.zeros::<bf16, 2>([2, 24])?;
    /// matmul.int4(&stream, &x, &weights, &mut y)?; // x · weightsᵀ
    /// assert!(y.to_vec(&stream)?.iter().all(|y| y.to_f32() == 128.0));
    /// # Ok::<(), kiln::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Shape`] for extents that do not fit together, [`Error::FactBroken`] for rows that are not contiguous, those of allocations
    /// and launches.
    pub fn int4(
        &mut self,
        stream: &Stream,
        a: &impl TensorArgument<bf16, 2>,
        b: &Int4Weights,
        c: &mut impl TensorArgumentMut<bf16, 2>,
    ) -> Result<()> {
        let a = a.tensor()?;
        let (m, [n, k]) = (a.shape()[0], b.shape());
        require("a product by weights of four bits, of a", [m, k], a.shape())?;
        require("a product by weights of four bits, of c", [m, n], c.tensor_mut()?.shape())?;
        if m == 0 || n == 0 {
            return Ok(());
        }
        let fits = {
            let c = c.tensor_mut()?;
            begin_at_pieces(&a) && begin_at_pieces(&c)
        };
        if m >= MANY_ROWS && k > 0 && fits {
            let mut numbers = shaped(stream, &mut self.numbers, [n, k])?;
            b.dequantize(stream, &mut numbers)?;
            self.dense.product(stream, &a, &numbers, c)
        } else {
            self.few_int4(stream, &a, b, c)
        }
    }

    /// A product by weights as they are.
    fn few_int4(
        &mut self,
        stream: &Stream,
        a: &DeviceTensor<bf16, 2>,
        b: &Int4Weights,
        c: &mut impl TensorArgumentMut<bf16, 2>,
    ) -> Result<()> {
        let (m, [n, k]) = (a.shape()[0], b.shape());
        let instance = packed::product::instances()
            .filter(|one| extent(one.BM) >= m.min(32))
            .min_by_key(|one| one.BM)
            .expect("there is an instance for 32 rows");
        let [bm, bn] = [instance.BM, instance.BN].map(extent);
        let group = count(b.group)?;
        self.share(stream, [n, m], [bn, bm], k / 2, |mut sharing| {
            instance
                .with(packed::product::Args {
                    a,
                    codes: &b.codes,
                    scales: &b.scales,
                    zeros: b.zeros.as_ref().map(|zeros| zeros as _),
                    c,
                    parts: &mut sharing.parts,
                    arrived: sharing.arrived,
                    group,
                    shares: sharing.shares,
                })
                .launch(stream)
        })
    }
}
