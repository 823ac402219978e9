use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel() {
    let (a, b) = (shared::<f16>([2, 64, 64]), shared::<f16>([64, 64]));
    let (acc, done) = (tmem::<f32>([128, 64]), barrier(1));
    tcgen05::mma(a.reshape([128, 64]), b, acc).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
}

fn main() {}
