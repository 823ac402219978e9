use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(c: TensorMut<f32, 2>) {
    let acc = tmem::<f32>([128, 64]);
    let flat = acc.view::<f32>([128]);
    c.tile([0, 0], [128, 64]).store(acc.load());
}

fn main() {}
