use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn product(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f32, 2>) {
    let rows = blocked([1, 8], [8, 4], [4, 1], [1, 0]);
    let x = a.tile([0, 0], [64, 32]).load().to_layout(rows);
    let y = b.tile([0, 0], [32, 64]).load();
    c.tile([0, 0], [64, 64]).store(dot(x, y, zeros::<f32>([64, 64])));
}

fn main() {}
