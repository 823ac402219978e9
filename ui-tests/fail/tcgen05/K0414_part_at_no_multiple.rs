use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(c: TensorMut<f32, 2>) {
    let acc = tmem::<f32>([128, 128]);
    let middle = acc.tile([0, 32], [128, 64]);
    c.tile([0, 0], [128, 64]).store(middle.load());
}

fn main() {}
