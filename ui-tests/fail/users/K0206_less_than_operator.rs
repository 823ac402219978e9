use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 128))]
pub fn positive(x: TensorMut<f32, 1>) {
    let w = x.tile([block_id(0) * 128], [128]);
    let v = w.load();
    w.store(select(v > 0.0, v, 0.0));
}

fn main() {}
