use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn until(x: TensorMut<f32, 1>) {
    let w = x.tile([0], [128]);
    while w.load().sum(0) > 1.0 {
        w.store(w.load() * 0.5);
    }
}

fn main() {}
