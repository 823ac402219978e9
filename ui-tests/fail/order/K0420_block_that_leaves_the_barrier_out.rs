use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, cluster = 2)]
pub fn only_one_meets(x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
    let (rank, read) = (cluster::rank(), barrier(1));
    let part = shared::<f32>([1, 64]);
    part.store(x.tile([rank, 0], [1, 64]).load());
    if rank == 0 {
        cluster::sync();
        y.tile([0, 0], [1, 64]).store(part.of_block(1).load());
        read.of_block(1).arrive();
    } else {
        read.wait(0);
    }
}

fn main() {}
