//! A `wgmma` product whose operands a pipelined loop brings to shared memory by TMA copies.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: bf16[M, K] list(1, -2, 3, 0, 2, -1, 1, -3, 1, 0, -1)
//@ arg b: bf16[K, N] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg c: f32[M, N] poison
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 8, grid = [cdiv(c.dim(0), 128), cdiv(c.dim(1), BN)],
         instances((M, N, K, BN, STAGES) = [(136, 40, 64, 32, 2), (128, 24, 176, 16, 3)]))]
pub fn dot_shared_pipeline<const M: i32, const N: i32, const K: i32, const BN: i32, const STAGES: i32>(
    #[block(128, 32)] a: TensorMap<bf16, 2>,
    #[block(32, BN)] b: TensorMap<bf16, 2>,
    c: TensorMut<f32, 2>,
) {
    let (m, n) = (block_id(0) * 128, block_id(1) * BN);
    let (sa, sb) = (shared::<bf16>([128, 32]), shared::<bf16>([32, BN]));
    let mut acc = zeros::<f32>([128, BN]);
    for k in pipeline(range(0, a.dim(1), 32), STAGES) {
        copy_async(a.at([m, k]), sa);
        copy_async(b.at([k, n]), sb);
        acc = dot(sa, sb, acc);
    }
    c.tile([m, n], [128, BN]).store(acc);
}
