//! A ring that both blocks of a pair fill through TMA, and whose bytes the barriers of the first block count. In FP8 and in bf16; the odd block
//! neither waits for its buffers nor starts products.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: T[256, 4 * K] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg b: T[64, 4 * K] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg c: f32[256, 64] poison
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, cluster = [2, 1], grid = 2,
         instances((T, K) = [(bf16, 16), (e4m3, 32)]))]
pub fn pair_ring<T: Scalar, const K: i32>(
    #[block(128, K)] a: TensorMap<T, 2>,
    #[block(32, K)] b: TensorMap<T, 2>,
    c: TensorMut<f32, 2>,
) {
    let rank = cluster::rank();
    let (sa, sb) = (shared::<T>([2, 128, K]), shared::<T>([2, 32, K]));
    let acc = tmem::<f32>([128, 64]);
    let (full, empty, done) = (barriers(2, 1), barriers(2, 1), barrier(1));
    warp_specialize(
        || {
            done.wait(0);
            c.tile([128 * rank, 0], [128, 64]).store(acc.load());
        },
        [
            partition(1).run(|| {
                if rank == 0 {
                    for step in 0..4 {
                        let slot = step % 2;
                        full[slot].wait(step / 2);
                        tcgen05::mma_pair(sa[slot], sb[slot].t(), acc).accumulate(step > 0);
                        tcgen05::commit(empty[slot]).multicast(0b11);
                    }
                    tcgen05::commit(done).multicast(0b11);
                }
            }),
            partition(1).run(|| {
                for step in 0..4 {
                    let slot = step % 2;
                    empty[slot].wait(1 - step / 2);
                    let bar = full[slot].of_block(0);
                    if rank == 0 {
                        full[slot].expect(2 * (a.block_bytes() + b.block_bytes()));
                    }
                    tma::load(a, [128 * rank, K * step], bar, sa[slot]);
                    tma::load(b, [32 * rank, K * step], bar, sb[slot]);
                }
            }),
        ],
    );
}
