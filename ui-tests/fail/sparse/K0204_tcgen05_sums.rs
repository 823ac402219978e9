use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn product() {
    let (a, b) = (shared::<bf16>([128, 32]), shared::<bf16>([64, 64]));
    let (metadata, acc) = (tmem::<u16>([128, 4]), tmem::<f16>([128, 64]));
    tcgen05::mma_sparse(a, metadata, b, acc);
    let done = barrier(1);
    tcgen05::commit(done);
    done.wait(0);
}

fn main() {}
