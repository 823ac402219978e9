use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn product(a: Tensor<e4m3, 2>, b: Tensor<e5m2, 2>, c: TensorMut<f32, 2>) {
    let (a, b) = (a.tile([0, 0], [64, 32]).load(), b.tile([0, 0], [32, 64]).load());
    c.tile([0, 0], [64, 64]).store(dot(a, b, zeros([64, 64])));
}

fn main() {}
