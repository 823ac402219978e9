use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(x: Ptr<f32>, out: Ptr<f32>, n: i32) {
    let i = block_id(0) * 256 + arange(0, 256);
    let mask = i.lt(n);
    atomic::add(out + i, load_masked(x + i, mask, 0.0), mask);
}

fn main() {}
