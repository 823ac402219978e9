use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel() {
    let held = tmem::<f32>([256, 64]).with_layout(tmem_block([128, 64], 1));
    held.store(zeros([256, 64]));
    held.with_layout(tmem_block([128, 32], 1)).store(zeros([256, 64]));
}

fn main() {}
