//! What the gradients of all keys need of each query.

#[kiln::kernel]
pub(crate) mod of_results {
    use super::super::super::seen::items::LN_2;
    use kiln::prelude::*;

    /// One block computes `R` queries of one head: the logarithms of their totals to the base 2, and the sums `out · d_out`.
    ///
    /// `sums` is `[2, batch, heads, queries]`.
    #[kernel(target = sm_80, warps = 4, grid = cdiv(out.dim(1), R) * out.dim(2) * out.dim(0),
             instances(T = [bf16, f16], (V, R) = [(64, 128), (128, 64), (256, 32)]))]
    pub fn prepare<T: Float, const V: i32, const R: i32>(
        out: Tensor<T, 4>,
        d_out: Tensor<T, 4>,
        lse: Tensor<f32, 3>,
        sums: TensorMut<f32, 4>,
    ) {
        let blocks = cdiv(out.dim(1), R);
        let start = R * (block_id(0) % blocks);
        let head = block_id(0) / blocks % out.dim(2);
        let batch = block_id(0) / blocks / out.dim(2);
        let at = [batch, start, head, 0];
        let out = out.tile(at, [1, R, 1, V]).load().reshape([R, V]).cast::<f32>();
        let d_out = d_out.tile(at, [1, R, 1, V]).load().reshape([R, V]).cast::<f32>();
        let top = lse.tile([batch, head, start], [1, 1, R]).load().reshape([1, 1, 1, R]);
        // Weights are `exp2` of scores minus these: 0 for a query that sees no key.
        let top = select(top.eq(f32::NEG_INFINITY), f32::INFINITY, top / LN_2);
        sums.tile([0, batch, head, start], [1, 1, 1, R]).store(top);
        let delta = (out * d_out).sum(1);
        sums.tile([1, batch, head, start], [1, 1, 1, R]).store(delta.reshape([1, 1, 1, R]));
    }
}
