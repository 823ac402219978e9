use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, cluster = 2)]
pub fn product(x: Tensor<f16, 2>, y: TensorMut<f32, 2>) {
    let (a, b) = (shared::<f16>([64, 64]), shared::<f16>([64, 64]));
    a.store(x.tile([0, 0], [64, 64]).load());
    b.store(x.tile([0, 64], [64, 64]).load());
    cluster::sync();
    let acc = wgmma::mma(a, b.of_block(0), zeros([64, 64]));
    y.tile([0, 0], [64, 64]).store(wgmma::wait(0, acc));
}

fn main() {}
