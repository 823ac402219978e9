use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel() {
    let (a, b) = (shared::<e2m1x2>([128, 64]), shared::<e2m1x2>([128, 64]));
    let (acc, sums, done) = (tmem::<f32>([128, 128]), tmem::<f32>([128, 64]), barrier(1));
    let (of_a, of_b) = (tmem::<e4m3>([128, 32]), tmem::<e4m3>([128, 8]));
    let right = shared::<e4m3>([32, 64]);
    tcgen05::mma(of_a, right, sums).accumulate(false);
    tcgen05::mma_scaled(a, b.t(), acc, of_a.tile([0, 0], [128, 8]), of_b).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
}

fn main() {}
