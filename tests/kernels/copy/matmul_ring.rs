//! A pipelined matrix product: a ring of two operands, products while copies fly.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ no-conflicts
//@ arg a: f16[M, K] list(1, -2, 3, 0, 2, -1, 1, -3, 1, 0, -1)
//@ arg b: f16[K, N] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg c: f32[M, N] poison
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = [cdiv(c.dim(0), 32), cdiv(c.dim(1), 64)],
         instances((M, N, K) = [(64, 64, 128), (40, 72, 56), (33, 66, 16)], S = [2, 3]))]
pub fn matmul_ring<const M: i32, const N: i32, const K: i32, const S: i32>(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    c: TensorMut<f32, 2>,
) {
    let (m, n) = (block_id(0) * 32, block_id(1) * 64);
    let sa = shared::<f16>([S, 32, 16]);
    let sb = shared::<f16>([S, 16, 64]);
    let turns = cdiv(a.dim(1), 16);
    for stage in unroll(0..S - 1) {
        copy_async(a.tile([m, stage * 16], [32, 16]), sa[stage]);
        copy_async(b.tile([stage * 16, n], [16, 64]), sb[stage]);
        copy_async_commit();
    }
    let mut acc = zeros::<f32>([32, 64]);
    for turn in 0..turns {
        copy_async_wait(S - 2);
        sync();
        let next = turn + S - 1;
        if next < turns {
            copy_async(a.tile([m, next * 16], [32, 16]), sa[next % S]);
            copy_async(b.tile([next * 16, n], [16, 64]), sb[next % S]);
        }
        copy_async_commit();
        acc = dot(sa[turn % S], sb[turn % S], acc);
    }
    c.tile([m, n], [32, 64]).store(acc);
}
