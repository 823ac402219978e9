use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(c: TensorMut<f32, 2>) {
    let blocks = tmem::<f32>([128, 64]).with_layout(tmem_block([64, 64], 1));
    let upper = blocks.tile([0, 0], [64, 64]);
    let words = upper.view::<f32>([64, 64]);
    c.tile([0, 0], [64, 64]).store(words.load());
}

fn main() {}
