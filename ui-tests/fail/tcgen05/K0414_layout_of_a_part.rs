use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel() {
    let held = tmem::<f32>([128, 64]);
    let part = held.tile([0, 0], [128, 32]).with_layout(tmem_block([128, 32], 1));
    part.store(zeros([128, 32]));
}

fn main() {}
