use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(c: TensorMut<f32, 2>) {
    let held = tmem::<f32>([128, 64]);
    held.store(zeros([128, 64]));
    c.tile([0, 0], [128, 64]).store(held);
}

fn main() {}
