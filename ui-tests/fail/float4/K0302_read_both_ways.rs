use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel() {
    let (a, fours) = (shared::<e4m3>([128, 128]), shared::<e2m1x2>([128, 64]));
    let (b, c) = (shared::<e2m1x2>([64, 64]), shared::<e2m1x2>([64, 64]));
    let (acc, sums, done) = (tmem::<f32>([128, 64]), tmem::<f32>([128, 64]), barrier(1));
    let (of_a, of_b) = (tmem::<ue8m0>([128, 4]), tmem::<ue8m0>([64, 4]));
    tcgen05::mma_scaled(fours, b.t(), acc, of_a, of_b).accumulate(false);
    tcgen05::mma_scaled(a, b.t(), sums, of_a, of_b).accumulate(false);
    tcgen05::mma(a, c.t(), sums).accumulate(false);
    tcgen05::mma_scaled(fours, c.t(), acc, of_a, of_b).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
}

fn main() {}
