use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn product(#[block(64, 64)] x: TensorMap<f16, 2>, c: TensorMut<f32, 2>) {
    let (a, b) = (shared::<f16>([64, 64]), shared::<f16>([64, 64]));
    let full = barrier(1);
    full.expect_copies();
    tma::load(x, [0, 0], full, a);
    tma::load(x, [0, 64], full, b);
    full.wait(0);
    let acc = wgmma::mma(a, b, zeros([64, 64]));
    c.tile([0, 0], [64, 64]).store(acc);
}

fn main() {}
