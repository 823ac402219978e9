use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel() {
    let _held = tmem::<f16>([128, 1024]).with_layout(tmem_block([128, 1024], 1));
}

fn main() {}
