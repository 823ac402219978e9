use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(c: TensorMut<f32, 2>) {
    let held = tmem::<f32>([32, 16]).with_layout(layout!(S[(32, 16) : (1 @ laneid, 1)]));
    c.tile([0, 0], [32, 16]).store(held.load());
}

fn main() {}
