use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn sum(n: i32, x: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
    let mut acc = zeros::<f32>([64]);
    for i in range(0, n, 128) {
        acc = acc + x.tile([i, 0], [128, 64]).load().sum(1);
    }
    out.tile([0], [64]).store(acc);
}

fn main() {}
