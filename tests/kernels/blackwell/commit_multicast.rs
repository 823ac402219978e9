//! One block of a cluster loads an operand for all of them, and fills a buffer again when the products of all blocks have read it: their
//! commits tell it, and each other, at the barriers of all.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: f16[48, 64] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg b: f16[64, 48] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg c: f32[CLUSTER, 64, 64] poison
//@ expect c: sum(n, 0, 48, a(n, j) * b(k, n)) * (i + 1)
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, cluster = CLUSTER, grid = CLUSTER, instances(CLUSTER = [2, 4]))]
pub fn commit_multicast<const CLUSTER: i32>(
    #[block(16, 64)] a: TensorMap<f16, 2>,
    #[block(64, 16)] b: TensorMap<f16, 2>,
    c: TensorMut<f32, 3>,
) {
    let (rank, all) = (cluster::rank(), (1 << CLUSTER) - 1);
    let (left, right) = (shared::<f16>([16, 64]), shared::<f16>([64, 16]));
    let acc = tmem::<f32>([64, 64]);
    let (full, empty, done) = (barrier(1), barrier(CLUSTER), barrier(1));
    let mut phase = 0;
    for k in range(0, a.dim(0), 16) {
        // The first iteration waits for nothing.
        empty.wait(phase ^ 1);
        full.expect(2 * left.bytes());
        if rank == 0 {
            tma::load(a, [k, 0], full, left).multicast(all);
            tma::load(b, [0, k], full, right).multicast(all);
        }
        full.wait(phase);
        tcgen05::mma(left.t(), right.t(), acc).accumulate(k > 0);
        tcgen05::commit(empty).multicast(all);
        phase ^= 1;
    }
    tcgen05::commit(done);
    done.wait(0);
    let scaled = acc.load() * ((rank + 1) as f32);
    c.tile([rank, 0, 0], [1, 64, 64]).store(scaled.expand(0));
}
