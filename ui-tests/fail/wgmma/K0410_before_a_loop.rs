use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn product(a: Tensor<f16, 2>, c: TensorMut<f32, 2>, n: i32) {
    let (ring, b) = (shared::<f16>([2, 64, 64]), shared::<f16>([64, 64]));
    ring[0].store(a.tile([0, 0], [64, 64]).load());
    let mut acc = wgmma::mma(ring[0], b, zeros::<f32>([64, 64]));
    for i in 0..n {
        acc = wgmma::mma(ring[i % 2], b, acc);
        acc = wgmma::wait(1, acc);
    }
    c.tile([0, 0], [64, 64]).store(wgmma::wait(0, acc));
}

fn main() {}
