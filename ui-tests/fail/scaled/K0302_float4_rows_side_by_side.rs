use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel() {
    let (a, b) = (shared::<u8>([128, 128]), shared::<u8>([64, 128]));
    let (acc, done) = (tmem::<f32>([128, 64]), barrier(1));
    let (of_a, of_b) = (tmem::<u8>([128, 8]), tmem::<u8>([64, 8]));
    tcgen05::mma_scaled(a.t(), b.t(), acc, of_a, of_b).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
}

fn main() {}
