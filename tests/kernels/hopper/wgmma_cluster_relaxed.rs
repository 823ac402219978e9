//! Two blocks of a cluster share an operand, and add their products to what is there: the kernel reads the tensor that it writes, which
//! arrivals at the other block need not order.
//@ run: emulate, gpu
//@ compare: exact
//@ arg a: bf16[M, K] list(1, -2, 3, 0, 2, -1, 1, -3, 1, 0, -1)
//@ arg b: bf16[K, N] list(-1, 2, 0, 1, 1, -2, 1)
//@ arg c: f32[M, N] list(3, -5, 7)
//@ expect c: c(i, j) + sum(n, 0, K, a(i, n) * b(n, j))
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = [2 * cdiv(c.dim(0), 128), cdiv(c.dim(1), 64)], cluster = [2, 1],
         instances((M, N, K) = [(128, 64, 320), (168, 72, 264)]))]
pub fn wgmma_cluster_relaxed<const M: i32, const N: i32, const K: i32>(
    #[block(64, 64)] a: TensorMap<bf16, 2>,
    #[block(64, 64)] b: TensorMap<bf16, 2>,
    c: TensorMut<f32, 2>,
) {
    let (m, n) = (block_id(0) * 64, block_id(1) * 64);
    let (sa, sb) = (shared::<bf16>([2, 64, 64]), shared::<bf16>([2, 64, 64]));
    let (full, empty) = (barriers(2, 1), barriers(2, 2));
    let depth = a.dim(1);
    warp_specialize(
        || {
            let mut acc = zeros::<f32>([64, 64]);
            for step in 0..cdiv(depth, 64) {
                let slot = step % 2;
                full[slot].wait(step / 2 % 2);
                acc = wgmma::mma(sa[slot], sb[slot], acc);
                acc = wgmma::wait(0, acc);
                empty[slot].of_block(0).arrive_relaxed();
                empty[slot].of_block(1).arrive_relaxed();
            }
            let sums = c.tile([m, n], [64, 64]);
            sums.store(sums.load() + acc);
        },
        [partition(1).run(|| {
            for step in 0..cdiv(depth, 64) {
                let (slot, k) = (step % 2, step * 64);
                empty[slot].wait(1 - step / 2 % 2);
                full[slot].expect(a.block_bytes() + b.block_bytes());
                tma::load(a, [m, k], full[slot], sa[slot]);
                tma::load(b, [k, n], full[slot], sb[slot]).when(cluster::rank() == 0).multicast(0b11);
            }
        })],
    );
    cluster::sync();
}
