use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn f(x: Ptr<f32>, out: Ptr<f32>) {
    let at = arange(16, 100);
    store(out + at, load(x + at) * 2.0);
}

fn main() {}
