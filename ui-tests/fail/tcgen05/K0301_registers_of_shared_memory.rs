use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(c: TensorMut<f32, 2>) {
    let acc = tmem::<f32>([128, 64]);
    let x = acc.load().to_layout(tmem_load("16x256b", swizzle(128), 4));
    c.tile([0, 0], [128, 64]).store(x);
}

fn main() {}
