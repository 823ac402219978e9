use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel() {
    let (a, b) = (shared::<f16>([64, 64]), shared::<f16>([64, 4]));
    let (acc, done) = (tmem::<f32>([64, 4]), barrier(1));
    tcgen05::mma(a, b, acc).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
}

fn main() {}
