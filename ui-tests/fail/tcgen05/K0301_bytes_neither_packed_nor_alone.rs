use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(c: TensorMut<u8, 2>) {
    let held = tmem::<u8>([128, 64]).with_layout(tmem_block([128, 64], 2));
    c.tile([0, 0], [128, 64]).store(held.load());
}

fn main() {}
