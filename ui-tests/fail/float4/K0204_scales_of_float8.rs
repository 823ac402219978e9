use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel() {
    let (a, b) = (shared::<e4m3>([128, 128]), shared::<e2m1x2>([64, 64]));
    let (acc, done) = (tmem::<f32>([128, 64]), barrier(1));
    let (of_a, of_b) = (tmem::<e4m3>([128, 8]), tmem::<e4m3>([64, 8]));
    tcgen05::mma_scaled(a, b.t(), acc, of_a, of_b).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
}

fn main() {}
