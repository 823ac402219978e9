use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel() {
    let _held = tmem::<f32>([128, 128]).with_layout(tmem_block([128, 96], 1));
}

fn main() {}
