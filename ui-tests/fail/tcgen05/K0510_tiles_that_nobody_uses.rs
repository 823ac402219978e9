use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel() {
    let _one = tmem::<f32>([128, 256]);
    let _other = tmem::<f16>([256, 256]);
    let _third = tmem::<f32>([128, 256]);
}

fn main() {}
