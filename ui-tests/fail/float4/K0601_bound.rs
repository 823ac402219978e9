use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, instances(T = [e2m1x2]))]
pub fn twice<T: Number>(x: Tensor<T, 1>, y: TensorMut<T, 1>) {
    let x = x.tile([0], [128]).load();
    y.tile([0], [128]).store(x + x);
}

fn main() {}
