use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel() {
    let b = shared::<f32>([64, 32]);
    let (both, done) = (tmem::<f32>([128, 128]), barrier(1));
    tcgen05::mma(both.tile([0, 32], [128, 32]), b.t(), both.tile([0, 0], [128, 64]));
    tcgen05::commit(done);
    done.wait(0);
}

fn main() {}
