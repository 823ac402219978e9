use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn product(a: Tensor<i32, 2>, b: Tensor<i32, 2>, c: TensorMut<i32, 2>) {
    let x = a.tile([0, 0], [64, 32]).load();
    let y = b.tile([0, 0], [32, 64]).load();
    c.tile([0, 0], [64, 64]).store(dot(x, y, zeros::<i32>([64, 64])));
}

fn main() {}
