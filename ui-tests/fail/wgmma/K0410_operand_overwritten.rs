use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn product(#[block(64, 64)] x: TensorMap<f16, 2>, c: TensorMut<f32, 2>, steps: i32) {
    let (a, b, full) = (shared::<f16>([64, 64]), shared::<f16>([64, 64]), barrier(1));
    let mut acc = zeros([64, 64]);
    for step in 0..steps {
        full.expect(a.bytes());
        tma::load(x, [0, 64 * step], full, a);
        full.wait(step % 2);
        acc = wgmma::mma(a, b, acc);
    }
    acc = wgmma::wait(0, acc);
    c.tile([0, 0], [64, 64]).store(acc);
}

fn main() {}
