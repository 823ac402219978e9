use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn wrong(out: TensorMut<f32, 2>) {
    let acc = tmem::<f32>([128, 64]);
    acc.store(zeros::<f32>([128, 64]));
    let v = acc.load().reshape([64, 128]);
    out.tile([0, 0], [128, 64]).store(v);
}

fn main() {}
