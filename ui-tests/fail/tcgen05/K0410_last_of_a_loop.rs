use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(steps: i32) {
    let (a, b) = (shared::<f16>([128, 64]), shared::<f16>([64, 64]));
    let (acc, done) = (tmem::<f32>([128, 64]), barrier(1));
    tcgen05::commit(done);
    for step in 0..steps {
        done.wait(step & 1);
        tcgen05::mma(a, b, acc).accumulate(step > 0);
        tcgen05::commit(done);
    }
}

fn main() {}
