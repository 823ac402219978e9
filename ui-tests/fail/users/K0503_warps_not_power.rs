use kiln::prelude::*;

#[kernel(target = sm_80, warps = 128, grid = cdiv(x.dim(0), 128))]
pub fn halve(x: TensorMut<f32, 1>) {
    let w = x.tile([block_id(0) * 128], [128]);
    w.store(w.load() * 0.5);
}

fn main() {}
