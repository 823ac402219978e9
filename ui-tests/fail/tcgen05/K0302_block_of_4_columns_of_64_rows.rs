use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel() {
    let (a, b) = (shared::<f16>([128, 64]), shared::<f16>([64, 64]));
    let acc = tmem::<f32>([128, 64]).with_layout(tmem_block([64, 4], 1));
    let done = barrier(1);
    tcgen05::mma(a, b, acc).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
}

fn main() {}
