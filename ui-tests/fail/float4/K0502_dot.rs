use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn product(x: Tensor<e2m1x2, 2>, y: TensorMut<f32, 2>) {
    let a = x.tile([0, 0], [64, 64]).load();
    y.tile([0, 0], [64, 64]).store(dot(a, a.t(), zeros([64, 64])));
}

fn main() {}
