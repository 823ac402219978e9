use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel() {
    let _held = tmem::<u8>([32, 16])
        .with_layout(layout!(S[(32, 16) : (1 @ TLane, 2 @ TCol)] + R[4 : 32 @ TLane]));
}

fn main() {}
