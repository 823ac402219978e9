use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, cluster = 2)]
pub fn kernel() {
    let (a, b) = (shared::<e4m3>([64, 128]), shared::<e4m3>([64, 128]));
    let (acc, done) = (tmem::<f32>([64, 128]), barrier(1));
    let (of_a, of_b) = (tmem::<ue8m0>([64, 4]), tmem::<ue8m0>([128, 4]));
    tcgen05::mma_scaled_pair(a, b.t(), acc, of_a, of_b).accumulate(false);
    tcgen05::commit(done).multicast(0b11);
    done.wait(0);
}

fn main() {}
