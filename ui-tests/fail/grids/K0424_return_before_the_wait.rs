use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = x.dim(0))]
pub fn doubled(x: TensorMut<f32, 2>, rows: i32) {
    let row = block_id(0);
    if row >= rows {
        return;
    }
    grid_dependency_wait();
    let window = x.tile([row, 0], [1, 128]);
    window.store(window.load() * 2.0);
}

fn main() {}
