use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel() {
    let (a, b) = (shared::<f16>([128, 64]), shared::<f16>([64, 64]));
    let acc = tmem::<f32>([128, 64]);
    tcgen05::mma(a, b, acc).accumulate(false);
}

fn main() {}
