use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn wrong(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let (even, odd) = x.tile([0, 0], [64, 64]).load().split();
    out.tile([0, 0], [64, 32]).store(even + odd);
}

fn main() {}
