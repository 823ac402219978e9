use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(c: TensorMut<f32, 2>) {
    let held = tmem::<f32>([128, 16])
        .with_layout(layout!(S[(128, 16) : (1 @ TLane, 1 @ TCol)] + R[4 : 16 @ TCol]));
    c.tile([0, 0], [128, 16]).store(held.load());
}

fn main() {}
