use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 100))]
pub fn clear(x: TensorMut<f32, 1>) {
    x.tile([block_id(0) * 100], [100]).store(zeros([100]));
}

fn main() {}
