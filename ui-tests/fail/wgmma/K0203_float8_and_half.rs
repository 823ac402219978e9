use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn product(c: TensorMut<f32, 2>) {
    let (a, b) = (shared::<e4m3>([64, 64]), shared::<f16>([64, 64]));
    let acc = wgmma::wait(0, wgmma::mma(a, b.t(), zeros([64, 64])));
    c.tile([0, 0], [64, 64]).store(acc);
}

fn main() {}
