use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn sum(#[block(64, 64)] x: TensorMap<f16, 2>, y: TensorMut<f16, 2>) {
    let (left, right) = (shared::<f16>([64, 64]), shared::<f16>([64, 64]));
    let full = barrier(1);
    full.expect(x.block_bytes());
    tma::load(x, [0, 0], full, left);
    tma::load(x, [0, 64], full, right);
    full.wait(0);
    y.tile([0, 0], [64, 64]).store(left.load() + right.load());
}

fn main() {}
