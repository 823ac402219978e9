use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn product(c: TensorMut<f32, 2>) {
    let (a, b) = (shared::<f16>([64, 64]), shared::<f16>([64, 64]));
    let sums = zeros([64, 64]);
    let acc = wgmma::mma(a, b, sums);
    let acc = wgmma::wait(0, wgmma::mma(a, b, acc + 1.0));
    c.tile([0, 0], [64, 64]).store(acc);
}

fn main() {}
