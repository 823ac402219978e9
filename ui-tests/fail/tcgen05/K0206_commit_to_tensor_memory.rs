use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel() {
    let held = tmem::<f32>([128, 64]);
    tcgen05::commit(held);
}

fn main() {}
