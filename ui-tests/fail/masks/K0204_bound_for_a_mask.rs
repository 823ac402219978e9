use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 1)]
pub fn f(x: Ptr<f32>, y: Ptr<f32>, n: i32) {
    let i = arange(0, 64);
    store_masked(y + i, n > 3, load_masked(x + i, 64, 0.0));
}

fn main() {}
