use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn product(c: TensorMut<f32, 2>, last: bool) {
    let (a, b) = (shared::<f16>([64, 64]), shared::<f16>([64, 64]));
    let acc = wgmma::mma(a, b, zeros([64, 64]));
    if last {
        let acc = wgmma::wait(0, acc);
        c.tile([0, 0], [64, 64]).store(acc);
    }
}

fn main() {}
