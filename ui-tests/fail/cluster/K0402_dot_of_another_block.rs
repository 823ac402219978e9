use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, cluster = 2)]
pub fn product(x: Tensor<f16, 2>, y: TensorMut<f32, 2>) {
    let a = shared::<f16>([64, 64]);
    a.store(x.tile([0, 0], [64, 64]).load());
    cluster::sync();
    y.tile([0, 0], [64, 64]).store(dot(a.of_block(1), a, zeros([64, 64])));
}

fn main() {}
