use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(at: Tensor<i32, 1>, c: TensorMut<f32, 1>) {
    let held = tmem::<f32>([128, 64]);
    held.store(zeros([128, 64]));
    let i = at.tile([0], [128]).load();
    c.tile([0], [128]).store(held.gather([i, i]));
}

fn main() {}
