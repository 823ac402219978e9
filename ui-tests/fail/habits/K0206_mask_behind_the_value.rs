use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn copy(x: Ptr<f32>, y: Ptr<f32>, n: i32) {
    let at = 128 * block_id(0) + arange(0, 128);
    let mask = at.lt(n);
    let v = load_masked(x + at, mask, 0.0);
    store_masked(y + at, v, mask);
}

fn main() {}
