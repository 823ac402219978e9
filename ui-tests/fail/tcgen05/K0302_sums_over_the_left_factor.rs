use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel() {
    let b = shared::<f16>([64, 64]);
    let (acc, done) = (tmem::<f32>([128, 64]), barrier(1));
    let halves = acc.view::<f16>([128, 64]);
    tcgen05::mma(halves, b, acc).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
}

fn main() {}
