use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, cluster = 2)]
pub fn never_told(
    #[block(16, 64)] a: TensorMap<f16, 2>,
    #[block(64, 16)] b: TensorMap<f16, 2>,
    c: TensorMut<f32, 3>,
) {
    let rank = cluster::rank();
    let (left, right) = (shared::<f16>([16, 64]), shared::<f16>([64, 16]));
    let (acc, full, empty) = (tmem::<f32>([64, 64]), barrier(1), barrier(1));
    for step in 0..4 {
        empty.wait(1 - step % 2);
        full.expect(2 * left.bytes());
        if rank == 0 {
            tma::load(a, [16 * step, 0], full, left).multicast(0b11);
            tma::load(b, [0, 16 * step], full, right).multicast(0b11);
        }
        full.wait(step % 2);
        tcgen05::mma(left.t(), right.t(), acc).accumulate(step > 0);
        tcgen05::commit(empty);
    }
    empty.wait(1);
    c.tile([rank, 0, 0], [1, 64, 64]).store(acc.load().expand(0));
}

fn main() {}
