use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(x: Ptr<f32>, out: Ptr<f32>, n: i32) {
    let i = arange(0, 256);
    let v = load(x + i);
    store_masked(out + i, v, i.lt(n));
}

fn main() {}
