use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, cluster = 2)]
pub fn kernel(c: TensorMut<f32, 2>) {
    let (a, b) = (shared::<f16>([128, 64]), shared::<f16>([64, 256]));
    let (acc, done) = (tmem::<f32>([128, 512]), barrier(1));
    tcgen05::mma_pair(a, b, acc).accumulate(false);
    tcgen05::commit(done).multicast(0b11);
    done.wait(0);
    c.tile([0, 0], [128, 512]).store(acc.load());
}

fn main() {}
