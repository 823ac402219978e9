use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(c: TensorMut<f32, 2>) {
    let b = shared::<f16>([64, 64]);
    let acc = tmem::<f32>([128, 64]);
    tcgen05::mma(zeros::<f16>([128, 64]), b.t(), acc);
    c.tile([0, 0], [128, 64]).store(acc.load());
}

fn main() {}
