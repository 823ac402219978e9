use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn product(c: TensorMut<f32, 2>, turns: i32) {
    let (a, b) = (shared::<f16>([64, 64]), shared::<f16>([64, 64]));
    let mut acc = zeros([64, 64]);
    for _ in 0..turns {
        acc = wgmma::mma(a, b, acc);
        c.tile([0, 0], [64, 64]).store(acc);
        acc = wgmma::wait(0, acc);
    }
}

fn main() {}
