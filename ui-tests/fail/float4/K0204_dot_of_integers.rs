use kiln::prelude::*;

#[kernel(target = sm_120a, warps = 4)]
pub fn product(x: Tensor<e2m1x2, 2>, y: TensorMut<i32, 2>) {
    let a = x.tile([0, 0], [64, 64]).load();
    y.tile([0, 0], [64, 64]).store(dot(a, a.t(), zeros::<i32>([64, 64])));
}

fn main() {}
