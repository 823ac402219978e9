use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn cleared(c: TensorMut<f32, 2>, clear: bool) {
    let values = tmem::<f32>([128, 64]);
    let kept = values.load();
    if clear {
        values.store(zeros([128, 64]));
    }
    c.tile([0, 0], [128, 64]).store(kept);
}

fn main() {}
