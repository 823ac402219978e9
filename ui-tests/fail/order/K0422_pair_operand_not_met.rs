use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, cluster = 2)]
pub fn pair(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f32, 2>) {
    let (rank, rows) = (cluster::rank(), 128 * cluster::rank());
    let (left, right) = (shared::<f16>([128, 16]), shared::<f16>([16, 16]));
    let (acc, done) = (tmem::<f32>([128, 32]), barrier(1));
    left.store(a.tile([rows, 0], [128, 16]).load());
    right.store(b.tile([0, 16 * rank], [16, 16]).load());
    tcgen05::mma_pair(left, right, acc).accumulate(false);
    tcgen05::commit(done).multicast(0b11);
    done.wait(0);
    c.tile([rows, 0], [128, 32]).store(acc.load());
}

fn main() {}
