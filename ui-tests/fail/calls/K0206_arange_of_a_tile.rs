use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn count(y: TensorMut<i32, 1>) {
    let v = zeros::<i32>([64]);
    y.tile([0], [64]).store(arange(0, v));
}

fn main() {}
