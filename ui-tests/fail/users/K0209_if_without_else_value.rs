use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 128))]
pub fn maybe(x: TensorMut<f32, 1>, scale: bool) {
    let w = x.tile([block_id(0) * 128], [128]);
    let v = w.load();
    let y = if scale { v * 2.0 } else { 0.0 };
    w.store(y);
}

fn main() {}
