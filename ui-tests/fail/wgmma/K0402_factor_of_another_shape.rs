use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn kernel(c: TensorMut<f32, 2>) {
    let (a, b) = (shared::<f16>([64, 64]), shared::<f16>([64, 64]));
    let acc = wgmma::mma(a, b.reshape([32, 128]).tile([0, 0], [32, 64]).t(), zeros::<f32>([64, 32]));
    c.tile([0, 0], [64, 32]).store(wgmma::wait(0, acc));
}

fn main() {}
