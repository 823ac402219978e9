use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(c: TensorMut<f32, 2>) {
    let (a, b) = (tmem::<f16>([128, 64]), shared::<f16>([64, 64]));
    let acc = tmem::<f32>([128, 64]).with_layout(tmem_block([64, 64], 1));
    tcgen05::mma(a, b, acc);
    c.tile([0, 0], [128, 64]).store(zeros([128, 64]));
}

fn main() {}
