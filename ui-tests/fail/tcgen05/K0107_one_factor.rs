use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(c: TensorMut<f32, 2>) {
    let (a, acc) = (shared::<f16>([128, 64]), tmem::<f32>([128, 64]));
    tcgen05::mma(a, acc);
    c.tile([0, 0], [128, 64]).store(acc.load());
}

fn main() {}
