use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(c: TensorMut<f32, 2>) {
    let a = tmem::<f16>([64, 64]);
    let b = shared::<f16>([64, 64]);
    let sums = tmem::<f32>([128, 64]).with_layout(tmem_block([64, 64], 1));
    tcgen05::mma(a, b, sums.tile([64, 0], [64, 64]));
    c.tile([0, 0], [128, 64]).store(zeros([128, 64]));
}

fn main() {}
