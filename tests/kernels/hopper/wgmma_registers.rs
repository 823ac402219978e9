//! A from registers, of every type; B with elements along `k` adjacent.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: A[64, K] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg b: B[32, K] list(1, 2, 0, 3, 1, 5, 1)
//@ arg c: S[64, 32] poison
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1,
         instances((A, B, S, K) = [
             (f16, f16, f32, 64), (f16, f16, f16, 32), (bf16, bf16, f32, 64), (f32, f32, f32, 32), (i8, i8, i32, 64),
             (i8, u8, i32, 64), (e4m3, e4m3, f32, 64), (e4m3, e5m2, f16, 128), (e5m2, e5m2, f32, 32),
         ]))]
pub fn wgmma_registers<A: Scalar, B: Scalar, S: Number, const K: i32>(
    a: Tensor<A, 2>,
    #[block(32, K)] b: TensorMap<B, 2>,
    c: TensorMut<S, 2>,
) {
    let sb = shared::<B>([32, K]);
    let bar = barrier(1);
    bar.expect(b.block_bytes());
    tma::load(b, [0, 0], bar, sb);
    let left = a.tile([0, 0], [64, K]).load();
    bar.wait(0);
    let acc = wgmma::wait(0, wgmma::mma(left, sb.t(), zeros::<S>([64, 32])));
    c.tile([0, 0], [64, 32]).store(acc);
}
