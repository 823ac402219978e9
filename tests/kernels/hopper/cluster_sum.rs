//! A cluster adds up the columns of its rows: each block those of its own part, and then a share of the columns over all parts. In
//! iterations, so that shared memory is written again after the others have read it.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[128, 512] uniform(-1000, 1000)
//@ arg sums: i32[512] poison
//@ expect sums: sum(k, 0, 128, x(k, i))
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, cluster = CLUSTER, grid = CLUSTER, instances(CLUSTER = [2, 4, 8, 16]))]
pub fn cluster_sum<const CLUSTER: i32>(x: Tensor<i32, 2>, sums: TensorMut<i32, 1>) {
    let rank = cluster::rank();
    let parts = shared::<i32>([128]);
    for column in range(0, x.dim(1), 128) {
        let mut part = zeros::<i32>([128]);
        for row in range(rank * 8, x.dim(0), CLUSTER * 8) {
            part += x.tile([row, column], [8, 128]).load().sum(0);
        }
        parts.store(part);
        cluster::sync();
        if rank == column / 128 % CLUSTER {
            let mut all = zeros::<i32>([128]);
            for other in 0..CLUSTER {
                all += parts.of_block(other).load();
            }
            sums.tile([column], [128]).store(all);
        }
        cluster::sync();
    }
}
