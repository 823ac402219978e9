use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 1)]
pub fn f(x: Ptr<f32>, y: Ptr<f32>, n: i32) {
    let i = lane_id();
    store(y + i, load(x + i));
}

fn main() {}
