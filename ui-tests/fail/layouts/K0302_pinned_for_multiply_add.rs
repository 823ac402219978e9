use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn product(a: Tensor<f32, 2>, b: Tensor<f32, 2>, c: TensorMut<f32, 2>) {
    let x = a.tile([0, 0], [64, 32]).load();
    let y = b.tile([0, 0], [32, 64]).load().to_layout(blocked([1, 4], [2, 16], [4, 1], [1, 0]));
    c.tile([0, 0], [64, 64]).store(dot(x, y, zeros::<f32>([64, 64])));
}

fn main() {}
