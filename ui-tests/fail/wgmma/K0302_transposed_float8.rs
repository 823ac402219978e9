use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn product(c: TensorMut<f32, 2>) {
    let (a, b) = (shared::<e4m3>([3, 128, 64]), shared::<e4m3>([3, 128, 32]));
    let acc = wgmma::wait(0, wgmma::mma(a[0].t(), b[0], zeros([64, 32])));
    c.tile([0, 0], [64, 32]).store(acc);
}

fn main() {}
