use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(n, 128))]
pub fn saxpy(n: i32, a: f32, x: Ptr<f32>, y: Ptr<f32>) {
    let i = block_id(0) * block_dim(0) + thread_id(0);
    if i < n {
        store(y + i, a * load(x + i) + load(y + i));
    }
}

fn main() {}
