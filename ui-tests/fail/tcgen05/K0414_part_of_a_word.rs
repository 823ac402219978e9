use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(c: TensorMut<f32, 2>) {
    let halves = tmem::<f16>([128, 64]);
    let column = halves.tile([0, 3], [128, 1]);
    c.tile([0, 0], [128, 1]).store(column.load().cast::<f32>());
}

fn main() {}
