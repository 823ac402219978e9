use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(n, 1024))]
pub fn copy(x: Ptr<f32>, out: Ptr<f32>, n: i32) {
    let offsets = block_id(0) * 1024 + arange(0, 1024);
    let mask = offsets.lt(n);
    store_masked(out + offsets, mask, load(x + offsets, mask));
}

fn main() {}
