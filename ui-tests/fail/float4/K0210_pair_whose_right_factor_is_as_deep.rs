use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, cluster = 2)]
pub fn kernel() {
    let (a, b) = (shared::<e4m3>([128, 128]), shared::<e2m1x2>([32, 128]));
    let (acc, done) = (tmem::<f32>([128, 64]), barrier(1));
    tcgen05::mma_pair(a, b.t(), acc).accumulate(false);
    tcgen05::commit(done).multicast(0b11);
    done.wait(0);
}

fn main() {}
