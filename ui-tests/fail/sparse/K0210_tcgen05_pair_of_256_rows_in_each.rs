use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, cluster = 2)]
pub fn product() {
    let (a, b) = (shared::<f16>([256, 32]), shared::<f16>([64, 32]));
    let (metadata, acc) = (tmem::<u16>([256, 4]), tmem::<f32>([256, 64]));
    tcgen05::mma_sparse_pair(a, metadata, b, acc);
    let done = barrier(1);
    tcgen05::commit(done).multicast(0b11);
    done.wait(0);
}

fn main() {}
