use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn put(x: TensorMut<f32, 1>) {
    let w = x.tile([0], [128])
    w.store(w.load());
}

fn main() {}
