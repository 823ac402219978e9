use kiln::prelude::*;

#[kernel(target = sm_120a, warps = 4)]
pub fn product(x: Tensor<e2m1x2, 2>, w: Tensor<e4m3, 2>, y: TensorMut<f32, 2>) {
    let (a, b) = (x.tile([0, 0], [64, 8]).load(), w.tile([0, 0], [16, 64]).load());
    y.tile([0, 0], [64, 64]).store(dot(a, b, zeros([64, 64])));
}

fn main() {}
