use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn product(#[block(64, 64)] x: TensorMap<f16, 2>, y: TensorMut<f32, 2>) {
    let (a, b, full) = (shared::<f16>([64, 64]), shared::<f16>([64, 64]), barriers(2, 1));
    full[0].expect(a.bytes());
    tma::load(x, [0, 0], full[0], a);
    full[1].expect(b.bytes());
    tma::load(x, [64, 0], full[1], b);
    full[0].wait(0);
    let acc = wgmma::mma(a, b, zeros([64, 64]));
    y.tile([0, 0], [64, 64]).store(wgmma::wait(0, acc));
}

fn main() {}
