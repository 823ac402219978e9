use kiln::prelude::*;

#[kernel(target = sm_100f, warps = 4, grid = 1)]
pub fn wide(c: TensorMut<f32, 2>) {
    let acc = tmem::<f32>([128, 1024]);
    acc.store(zeros([128, 1024]));
    c.tile([0, 0], [128, 1024]).store(acc.load());
}

fn main() {}
