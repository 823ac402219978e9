use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = cdiv(x.dim(0), 512))]
pub fn scaled(x: TensorMut<f32, 1>, factor: f32) {
    launch_dependents();
    let window = x.tile([block_id(0) * 512], [512]);
    let old = window.load();
    grid_dependency_wait();
    window.store(old * factor);
}

fn main() {}
