use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = [cdiv(n, 256)])]
pub fn double(x: Ptr<f32>, y: Ptr<f32>, n: i32) {
    let at = block_id(0) * 256 + arange(0, 256);
    let v = load(x + at, mask = at.lt(n), other = 0.0);
    store_masked(y + at, at.lt(n), v * 2.0);
}

fn main() {}
