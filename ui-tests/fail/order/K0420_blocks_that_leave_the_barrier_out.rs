use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, cluster = 2)]
pub fn only_one_waits(x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
    let (rank, full) = (cluster::rank(), barrier(1));
    let part = shared::<f32>([1, 64]);
    part.store(x.tile([rank, 0], [1, 64]).load());
    cluster::sync();
    if rank == 0 {
        full.wait(0);
    } else {
        cluster::sync();
    }
    y.tile([rank, 0], [1, 64]).store(part.of_block(1 - rank).load());
}

fn main() {}
