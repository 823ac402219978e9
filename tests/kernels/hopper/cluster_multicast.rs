//! One block of a cluster has a tile copied to all of them, each waits for its own, and tells that block when it may be filled again.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f16[32, 256] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg y: f16[CLUSTER, 32, 256] poison
//@ expect y: x(j, k) * (i + 1)
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, cluster = CLUSTER, grid = CLUSTER, instances(CLUSTER = [2, 4]))]
pub fn cluster_multicast<const CLUSTER: i32>(
    #[block(32, 64)] x: TensorMap<f16, 2>,
    y: TensorMut<f16, 3>,
) {
    let (rank, all) = (cluster::rank(), (1 << CLUSTER) - 1);
    let tile = shared::<f16>([32, 64]);
    let (filled, read) = (barrier(1), barrier(CLUSTER));
    let mut phase = 0;
    for column in range(0, x.dim(1), 64) {
        filled.expect(tile.bytes());
        if rank == 0 {
            // Nobody reads the tile of the iteration before any more: the first iteration waits for nothing.
            read.wait(phase ^ 1);
            tma::load(x, [0, column], filled, tile).multicast(all);
        }
        filled.wait(phase);
        let scaled = tile.load() * ((rank + 1) as f16);
        read.of_block(0).arrive();
        y.tile([rank, 0, column], [1, 32, 64]).store(scaled.expand(0));
        phase ^= 1;
    }
}
