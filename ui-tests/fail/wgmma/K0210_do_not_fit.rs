use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn product(c: TensorMut<f32, 2>) {
    let (a, b) = (shared::<f16>([64, 64]), shared::<f16>([128, 64]));
    let acc = wgmma::wait(0, wgmma::mma(a, b, zeros([64, 128])));
    c.tile([0, 0], [64, 128]).store(acc);
}

fn main() {}
