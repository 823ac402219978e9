use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(c: TensorMut<f32, 2>) {
    let accs = tmem::<f32>([2, 128, 64]);
    let part = accs.tile([0, 0], [128, 32]);
    c.tile([0, 0], [128, 32]).store(part.load());
}

fn main() {}
