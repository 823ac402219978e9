use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn wrong(x: Tensor<f32, 1>, p: Ptr<f32>, out: TensorMut<f32, 1>) {
    let x = x.tile([0], [64]).load();
    let third = x.gather(0, 3);
    let addresses = (p + arange(0, 64)).gather(0, arange(0, 64));
    out.tile([0], [64]).store(x);
}

fn main() {}
