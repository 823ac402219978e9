use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(c: TensorMut<f32, 2>) {
    let scores = tmem::<f32>([128, 32]);
    let halves = scores.view::<f16>([128, 128]);
    c.tile([0, 0], [128, 128]).store(halves.load().cast::<f32>());
}

fn main() {}
