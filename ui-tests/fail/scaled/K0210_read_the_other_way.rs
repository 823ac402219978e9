use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel() {
    let (a, b) = (shared::<e4m3>([128, 256]), shared::<e4m3>([128, 256]));
    let acc = tmem::<f32>([128, 128]);
    let (of_a, of_b) = (tmem::<ue8m0>([128, 8]), tmem::<ue8m0>([128, 8]));
    tcgen05::mma_scaled(a, b, acc, of_a, of_b);
}

fn main() {}
