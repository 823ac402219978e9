use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, cluster = 2)]
pub fn kernel() {
    let (a, b) = (shared::<f16>([64, 64]), shared::<f16>([64, 32]));
    let acc = tmem::<f32>([64, 64]).with_layout(tmem_block([64, 64], 1));
    let done = barrier(1);
    tcgen05::mma_pair(a, b, acc).accumulate(false);
    tcgen05::commit(done).multicast(0b11);
    done.wait(0);
}

fn main() {}
