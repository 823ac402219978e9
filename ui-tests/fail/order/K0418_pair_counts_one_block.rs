use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, cluster = [2, 1])]
pub fn half_expected(
    #[block(128, 16)] a: TensorMap<bf16, 2>,
    #[block(32, 16)] b: TensorMap<bf16, 2>,
    c: TensorMut<f32, 2>,
) {
    let rank = cluster::rank();
    let (sa, sb) = (shared::<bf16>([128, 16]), shared::<bf16>([32, 16]));
    let acc = tmem::<f32>([128, 64]);
    let (full, done) = (barrier(1), barrier(1));
    warp_specialize(
        || {
            done.wait(0);
            c.tile([128 * rank, 0], [128, 64]).store(acc.load());
        },
        [
            partition(1).run(|| {
                if rank == 0 {
                    full.wait(0);
                    tcgen05::mma_pair(sa, sb.t(), acc).accumulate(false);
                    tcgen05::commit(done).multicast(0b11);
                }
            }),
            partition(1).run(|| {
                let bar = full.of_block(0);
                if rank == 0 {
                    full.expect(a.block_bytes() + b.block_bytes());
                }
                tma::load(a, [128 * rank, 0], bar, sa);
                tma::load(b, [32 * rank, 0], bar, sb);
            }),
        ],
    );
}

fn main() {}
