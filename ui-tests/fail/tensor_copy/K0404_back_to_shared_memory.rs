use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel() {
    let staged = shared::<f32>([128, 64]);
    let held = tmem::<f32>([128, 64]);
    copy_async(held, staged);
}

fn main() {}
