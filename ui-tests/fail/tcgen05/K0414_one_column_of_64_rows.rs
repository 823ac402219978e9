use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(c: TensorMut<f32, 2>) {
    let held = tmem::<f32>([64, 1]);
    held.store(zeros([64, 1]));
    let wide = tmem::<f32>([64, 4]);
    wide.store(zeros([64, 4]));
    c.tile([0, 0], [64, 1]).store(wide.tile([0, 1], [64, 1]).load());
}

fn main() {}
