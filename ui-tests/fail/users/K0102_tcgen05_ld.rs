use kiln::prelude::*;

#[kernel(target = sm_100f, warps = 4, grid = 1)]
pub fn wrong(out: TensorMut<f32, 2>) {
    let acc = tmem::<f32>([128, 64]);
    acc.store(zeros([128, 64]));
    let v = tcgen05::ld(acc);
    out.tile([0, 0], [128, 64]).store(v);
}

fn main() {}
