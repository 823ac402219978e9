use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel() {
    let (a, b) = (shared::<e4m3>([128, 128]), shared::<e2m1x2>([64, 128]));
    let (acc, done) = (tmem::<f32>([128, 64]), barrier(1));
    tcgen05::mma(a, b.tile([0, 64], [64, 64]).t(), acc).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
}

fn main() {}
