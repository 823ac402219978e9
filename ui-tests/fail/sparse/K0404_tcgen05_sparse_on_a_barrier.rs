use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn product() {
    let (a, b) = (shared::<f16>([128, 32]), shared::<f16>([64, 64]));
    let (metadata, acc) = (tmem::<u16>([128, 4]), tmem::<f32>([128, 64]));
    let done = barrier(1);
    tcgen05::mma_sparse(a, metadata, b, acc).on(done);
    done.wait(0);
}

fn main() {}
