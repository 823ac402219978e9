use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn product() {
    let (a, b) = (shared::<f16>([64, 64]), shared::<f16>([64, 64]));
    let _acc = wgmma::mma(a, b, zeros::<f32>([64, 64]));
}

fn main() {}
