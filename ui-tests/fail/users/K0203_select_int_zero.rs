use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 256))]
pub fn relu(x: TensorMut<f32, 1>) {
    let w = x.tile([block_id(0) * 256], [256]);
    let v = w.load();
    w.store(select(v.gt(0.0), v, 0));
}

fn main() {}
