use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(c: TensorMut<u8, 2>) {
    let held = tmem::<u8>([128, 16])
        .with_layout(layout!(S[(128, 8, 2) : (1 @ TLane, 4 @ TCol, 1 @ TCol)]));
    c.tile([0, 0], [128, 16]).store(held.load());
}

fn main() {}
