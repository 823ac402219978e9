use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(c: TensorMut<u8, 2>) {
    let held = tmem::<u8>([32, 16])
        .with_layout(layout!(S[(32, 32) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]));
    c.tile([0, 0], [32, 16]).store(held.load());
}

fn main() {}
