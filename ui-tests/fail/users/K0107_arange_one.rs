use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(x: Ptr<f32>, out: Ptr<f32>) {
    let i = block_id(0) * 256 + arange(256);
    store(out + i, load(x + i) * 2.0);
}

fn main() {}
