use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel() {
    let (one, other) = (tmem::<f32>([128, 64]), tmem::<f32>([128, 64]));
    let done = barrier(1);
    tcgen05::copy(one, other);
    tcgen05::commit(done);
    done.wait(0);
}

fn main() {}
