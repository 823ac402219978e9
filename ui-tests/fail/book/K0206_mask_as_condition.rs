use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 256))]
pub fn relu(x: TensorMut<f32, 1>) {
    let window = x.tile([block_id(0) * 256], [256]);
    let x = window.load();
    window.store(if x.gt(0.0) { x } else { zeros([256]) });
}

fn main() {}
