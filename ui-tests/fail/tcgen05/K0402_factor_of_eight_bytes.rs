use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel() {
    let (a, b) = (shared::<i8>([64, 64]), shared::<i8>([64, 64]));
    let (acc, done) = (tmem::<i32>([64, 8]), barrier(1));
    tcgen05::mma(a, b.tile([0, 8], [64, 8]), acc).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
}

fn main() {}
