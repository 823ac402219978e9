use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn product() {
    let (a, b) = (shared::<e2m1x2>([128, 64]), shared::<e2m1x2>([64, 128]));
    let (metadata, acc) = (tmem::<u16>([128, 8]), tmem::<f32>([128, 64]));
    tcgen05::mma_sparse(a, metadata, b.t(), acc);
    let done = barrier(1);
    tcgen05::commit(done);
    done.wait(0);
}

fn main() {}
