use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel() {
    let held = tmem::<f32>([128, 64]);
    held.view::<u32>([32, 64]).store(zeros([32, 64]));
}

fn main() {}
