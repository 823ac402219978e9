use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn product(c: TensorMut<f16, 2>) {
    let (a, b) = (shared::<bf16>([64, 64]), shared::<bf16>([64, 64]));
    let acc = wgmma::wait(0, wgmma::mma(a, b, zeros::<f16>([64, 64])));
    c.tile([0, 0], [64, 64]).store(acc);
}

fn main() {}
