use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(c: TensorMut<f32, 2>, first: bool) {
    let (one, other) = (tmem::<f32>([128, 64]), tmem::<f32>([128, 64]));
    one.store(zeros([128, 64]));
    other.store(zeros([128, 64]));
    let held = if first { one } else { other };
    c.tile([0, 0], [128, 64]).store(held.load());
}

fn main() {}
