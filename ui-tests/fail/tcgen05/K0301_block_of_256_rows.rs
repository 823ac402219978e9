use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel() {
    let _held = tmem::<f32>([256, 64]).with_layout(tmem_block([256, 64], 1));
}

fn main() {}
