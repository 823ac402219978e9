use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(x: Tensor<f32, 2>) {
    let held = tmem::<f16>([128, 64]);
    held.store(x.tile([0, 0], [128, 64]).load());
}

fn main() {}
