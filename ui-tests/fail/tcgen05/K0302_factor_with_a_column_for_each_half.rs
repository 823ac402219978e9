use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(c: TensorMut<f32, 2>) {
    let (b, acc) = (shared::<f16>([64, 64]), tmem::<f32>([128, 64]));
    let a = acc.view::<f16>([128, 64]).with_layout(tmem_block([128, 64], 2));
    let sums = tmem::<f32>([128, 64]);
    tcgen05::mma(a, b, sums);
    c.tile([0, 0], [128, 64]).store(zeros([128, 64]));
}

fn main() {}
