//! x / sqrt(mean(x²) + eps) · weight.
//@ run: eval, emulate, gpu
//@ no-spill
// The mean of up to 1024 squares of either sign of rounding: log2(1024) + 3 roundings along the tree, 13 * 2^-24; the
// reciprocal root halves that and adds 2^-22; two products. Below 1e-6; the half types add one rounding.
//@ compare: rtol=1e-6 ulp=1
//@ arg eps: f32 scalar 0.00001
//@ case: whole
//@ arg x: T[4, N] uniform(-2, 2)
//@ arg weight: T[N] uniform(0.5, 1.5)
//@ arg out: T[4, N] poison
//@ case: ragged
//@ arg x: T[3, 201] uniform(-2, 2)
//@ arg weight: T[201] uniform(0.5, 1.5)
//@ arg out: T[3, 201] poison
//@ expect out: x(i, j) / sqrt(sum(k, 0, 201, x(i, k) * x(i, k)) / 201 + eps) * weight(j)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = x.dim(0), instances(T = [bf16, f16, f32], (N, W) = [(256, 1), (1024, 4)]))]
pub fn rms_norm<T: Float, const N: i32, const W: i32>(
    x: Tensor<T, 2>,
    weight: Tensor<T, 1>,
    eps: f32,
    out: TensorMut<T, 2>,
) {
    let row = block_id(0);
    let v = x.tile([row, 0], [1, N]).load().cast::<f32>();
    let mean = (v * v).sum(1) / (x.dim(1) as f32);
    let scale = (mean + eps).rsqrt().expand(1);
    let w = weight.tile([0], [N]).load().cast::<f32>().expand(0);
    out.tile([row, 0], [1, N]).store((v * scale * w).cast::<T>());
}
