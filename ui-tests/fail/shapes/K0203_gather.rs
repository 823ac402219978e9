use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn wrong(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let x = x.tile([0, 0], [16, 64]).load();
    out.tile([0, 0], [16, 64]).store(x.gather(1, x));
}

fn main() {}
