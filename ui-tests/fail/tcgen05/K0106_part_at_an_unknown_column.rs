use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(c: TensorMut<f32, 2>) {
    let acc = tmem::<f32>([128, 64]);
    let part = acc.tile([0, 32 * block_id(0)], [128, 32]);
    c.tile([0, 0], [128, 32]).store(part.load());
}

fn main() {}
