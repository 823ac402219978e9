use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(c: TensorMut<f32, 2>) {
    let accs = tmem::<f32>([3, 128, 256]);
    accs[0].store(zeros([128, 256]));
    c.tile([0, 0], [128, 64]).store(zeros([128, 64]));
}

fn main() {}
