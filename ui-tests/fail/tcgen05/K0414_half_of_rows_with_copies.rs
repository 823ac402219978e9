use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(x: Tensor<u8, 2>) {
    let held = tmem::<u8>([32, 16])
        .with_layout(layout!(S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]));
    held.tile([0, 0], [16, 16]).store(x.tile([0, 0], [16, 16]).load());
}

fn main() {}
