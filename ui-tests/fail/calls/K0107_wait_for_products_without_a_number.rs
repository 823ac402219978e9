use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn gram(x: Tensor<f16, 2>, y: TensorMut<f32, 2>) {
    let a = shared::<f16>([64, 64]);
    a.store(x.tile([0, 0], [64, 64]).load());
    sync();
    let sums = wgmma::mma(a, a.t(), zeros::<f32>([64, 64]));
    let sums = wgmma::wait(sums);
    y.tile([0, 0], [64, 64]).store(sums);
}

fn main() {}
