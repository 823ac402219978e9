use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn gram(x: Tensor<f16, 2>, y: TensorMut<f32, 2>) {
    let a = shared::<f16>([64, 128]);
    a.store(x.tile([0, 0], [64, 128]).load());
    sync();
    let sums = wgmma::mma(a, a.t());
    y.tile([0, 0], [64, 64]).store(wgmma::wait(0, sums));
}

fn main() {}
