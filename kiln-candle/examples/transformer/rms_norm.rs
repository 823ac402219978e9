//! RMSNorm, out = x / sqrt(mean(x²) + eps) · weight, as an op of candle's with a gradient.

use candle_core::Tensor;
use half::{bf16, f16};
use kernels::{rms_norm, rms_norm_dweight, rms_norm_dx};
use kiln_candle::{Arg, Backward, Call, Forward, Op, Result, match_dtype, run};

mod kernels {
    use kiln::prelude::*;

    /// One block a row of any width, `N` elements at a time. `scale` is 1 / sqrt(mean(x²) + eps) of each row.
    #[kernel(target = sm_80, warps = 4, grid = x.dim(0), instances(T = [f32, f16, bf16], N = [1024]))]
    pub(super) fn rms_norm<T: Float, const N: i32>(
        x: Tensor<T, 2>,
        weight: Tensor<T, 1>,
        eps: f32,
        out: TensorMut<T, 2>,
        scale: TensorMut<f32, 1>,
    ) {
        let row = block_id(0);
        let mut squares = zeros::<f32>([1]);
        for at in range(0, x.dim(1), N) {
            let v = x.tile([row, at], [1, N]).load().cast::<f32>(); // zero outside the row
            squares += (v * v).sum(1);
        }
        let s = (squares / (x.dim(1) as f32) + eps).rsqrt();
        scale.tile([row], [1]).store(s);
        for at in range(0, x.dim(1), N) {
            let v = x.tile([row, at], [1, N]).load().cast::<f32>();
            let w = weight.tile([at], [N]).load().cast::<f32>().expand(0);
            out.tile([row, at], [1, N]).store((v * s.expand(1) * w).cast::<T>());
        }
    }

    /// dx = s · (w · g - x · s² · mean(w · g · x)), one block a row.
    #[kernel(target = sm_80, warps = 4, grid = x.dim(0), instances(T = [f32, f16, bf16], N = [1024]))]
    pub(super) fn rms_norm_dx<T: Float, const N: i32>(
        x: Tensor<T, 2>,
        weight: Tensor<T, 1>,
        scale: Tensor<f32, 1>,
        g: Tensor<T, 2>,
        dx: TensorMut<T, 2>,
    ) {
        let row = block_id(0);
        let mut products = zeros::<f32>([1]);
        for at in range(0, x.dim(1), N) {
            let v = x.tile([row, at], [1, N]).load().cast::<f32>();
            let w = weight.tile([at], [N]).load().cast::<f32>().expand(0);
            let gs = g.tile([row, at], [1, N]).load().cast::<f32>();
            products += (v * w * gs).sum(1);
        }
        let s = scale.tile([row], [1]).load();
        let shared = (products / (x.dim(1) as f32) * s * s).expand(1);
        for at in range(0, x.dim(1), N) {
            let v = x.tile([row, at], [1, N]).load().cast::<f32>();
            let w = weight.tile([at], [N]).load().cast::<f32>().expand(0);
            let gs = g.tile([row, at], [1, N]).load().cast::<f32>();
            dx.tile([row, at], [1, N]).store(((w * gs - v * shared) * s.expand(1)).cast::<T>());
        }
    }

    /// dweight = Σ g · x · s over the rows, in one order whatever the device: one block has `N` columns.
    #[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(1), N), instances(T = [f32, f16, bf16], (M, N) = [(16, 64)]))]
    pub(super) fn rms_norm_dweight<T: Float, const M: i32, const N: i32>(
        x: Tensor<T, 2>,
        scale: Tensor<f32, 1>,
        g: Tensor<T, 2>,
        dweight: TensorMut<T, 1>,
    ) {
        let column = block_id(0) * N;
        let mut sums = zeros::<f32>([M, N]);
        for row in range(0, x.dim(0), M) {
            let v = x.tile([row, column], [M, N]).load().cast::<f32>();
            let gs = g.tile([row, column], [M, N]).load().cast::<f32>();
            sums += v * gs * scale.tile([row], [M]).load().expand(1);
        }
        dweight.tile([column], [N]).store(sums.sum(0).cast::<T>());
    }
}

/// RMSNorm over the last axis: the inputs are x, of any rank, and the weight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RmsNorm {
    pub(crate) eps: f32,
}

impl Op<2> for RmsNorm {
    const NAME: &'static str = "rms-norm";
    const TARGETS: &'static [kiln::Target] = rms_norm::TARGETS;

    fn forward(&self, call: &Call, [x, weight]: [Arg<'_>; 2]) -> Result<Forward> {
        match_dtype!(x, T in [f32, f16, bf16] => {
            let rows = x.flattened::<T, 2>()?;
            let weight = weight.view::<T, 1>()?;
            require_width(rows.shape(), weight.shape())?;
            let mut out = call.empty(rows.shape())?;
            let mut scale = call.empty([rows.shape()[0]])?;
            let (x_, eps) = (&rows, self.eps);
            let args = rms_norm::Args { x: x_, weight: &weight, eps, out: &mut out, scale: &mut scale };
            rms_norm::<T, 1024>(args).launch(call.stream())?;
            let scale = scale.finish(rows.shape()[0])?;
            Ok(Forward::saving(out.finish(x.shape())?, [scale]))
        })
    }

    fn backward(&self, step: &Backward<'_, 2>) -> Result<[Option<Tensor>; 2]> {
        let ([x, weight], [scale]) = (step.inputs, step.saved()?);
        // The gradient of a mean, say, is one number under a shape; its rows are none in memory.
        let gradient = step.gradient.contiguous()?;
        let [dx, dweight] = run(
            "rms-norm, backward",
            rms_norm_dx::TARGETS,
            [x, weight, scale, &gradient],
            |call, [x, weight, scale, g]| {
                match_dtype!(x, T in [f32, f16, bf16] => {
                    let (rows, g) = (x.flattened::<T, 2>()?, g.flattened::<T, 2>()?);
                    let (w, scale) = (weight.view::<T, 1>()?, scale.view::<f32, 1>()?);
                    let mut dx = call.empty(rows.shape())?;
                    let mut dweight = call.empty(w.shape())?;
                    let args = rms_norm_dx::Args { x: &rows, weight: &w, scale: &scale, g: &g, dx: &mut dx };
                    rms_norm_dx::<T, 1024>(args).launch(call.stream())?;
                    let args = rms_norm_dweight::Args { x: &rows, scale: &scale, g: &g, dweight: &mut dweight };
                    rms_norm_dweight::<T, 16, 64>(args).launch(call.stream())?;
                    Ok([dx.finish(x.shape())?, dweight.finish(weight.shape())?])
                })
            },
        )?;
        Ok([Some(dx), Some(dweight)])
    }
}

fn require_width([_, width]: [usize; 2], [weight]: [usize; 1]) -> candle_core::Result<()> {
    if width != weight {
        candle_core::bail!("rms-norm: rows of {width} elements, and a weight of {weight}");
    }
    Ok(())
}
