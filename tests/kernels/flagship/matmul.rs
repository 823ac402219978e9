//! Matrix product through shared memory with asynchronous copies.
//@ run: eval, emulate, gpu
//@ snapshot: ir, layouts, ptx
// Sums of k <= 80 products in f32, in another order than the reference: each rounding is 2^-24 of a partial sum, which is
// below k / 3 in the mean, so 80 * 80 * 2^-24 bounds it; then one rounding to f16.
//@ compare: ulp=1 atol=4e-4
//@ case: whole tiles
//@ arg a: f16[64, 64] uniform(-1, 1)
//@ arg b: f16[64, 128] uniform(-1, 1)
//@ arg c: f16[64, 128] poison
//@ case: ragged
//@ arg a: f16[70, 80] uniform(-1, 1)
//@ arg b: f16[80, 72] uniform(-1, 1)
//@ arg c: f16[70, 72] poison
//@ case: ragged depth, odd rows
//@ arg a: f16[33, 48] uniform(-1, 1) strides(50, 1)
//@ arg b: f16[48, 30] uniform(-1, 1)
//@ arg c: f16[33, 30] poison strides(31, 1)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = [cdiv(c.dim(0), BM), cdiv(c.dim(1), BN)],
         instances((BM, BN) = [(64, 64), (32, 64)], BK = [16, 32], W = [4]))]
pub fn matmul<const BM: i32, const BN: i32, const BK: i32, const W: i32>(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    c: TensorMut<f16, 2>,
) {
    let (off_m, off_n) = (block_id(0) * BM, block_id(1) * BN);
    let sa = shared::<f16>([BM, BK]);
    let sb = shared::<f16>([BK, BN]);
    let mut acc = zeros::<f32>([BM, BN]);
    for k in range(0, a.dim(1), BK) {
        copy_async(a.tile([off_m, k], [BM, BK]), sa);
        copy_async(b.tile([k, off_n], [BK, BN]), sb);
        copy_async_wait_all();
        sync();
        acc = dot(sa.load(), sb.load(), acc);
        sync();
    }
    c.tile([off_m, off_n], [BM, BN]).store(acc.cast::<f16>());
}
