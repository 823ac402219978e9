use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(c: TensorMut<f32, 2>) {
    let accs = tmem::<f32>([2, 128, 64]);
    let halves = accs.view::<f16>([128, 64]);
    c.tile([0, 0], [128, 64]).store(halves.load().cast::<f32>());
}

fn main() {}
