use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f32, 2>) {
    let mut acc = zeros::<f32>([64, 64]);
    for k in range(0, a.dim(1), 32, 3) {
        acc = dot(a.tile([0, k], [64, 32]).load(), b.tile([k, 0], [32, 64]).load(), acc);
    }
    c.tile([0, 0], [64, 64]).store(acc);
}

fn main() {}
