use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(c: TensorMut<f32, 2>) {
    for i in 0..c.dim(0) {
        let held = tmem::<f32>([128, 64]);
        c.tile([i, 0], [128, 64]).store(held.load());
    }
}

fn main() {}
