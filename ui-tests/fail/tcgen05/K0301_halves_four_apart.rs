use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel() {
    let _held = tmem::<f16>([128, 64]).with_layout(tmem_block([128, 64], 4));
}

fn main() {}
