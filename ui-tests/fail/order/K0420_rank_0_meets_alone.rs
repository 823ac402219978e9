use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, cluster = 2)]
pub fn meets_alone(x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
    let rank = cluster::rank();
    let (part, full) = (shared::<f32>([1, 64]), barrier(1));
    if rank == 1 {
        part.store(x.tile([rank, 0], [1, 64]).load());
        cluster::sync();
        full.wait(0);
    } else {
        cluster::sync();
        cluster::sync();
        y.tile([0, 0], [1, 64]).store(part.of_block(1).load());
        full.of_block(1).arrive();
    }
}

fn main() {}
