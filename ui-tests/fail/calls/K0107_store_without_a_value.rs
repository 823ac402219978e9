use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = [cdiv(n, 256)])]
pub fn scale(x: Ptr<f32>, n: i32) {
    let at = block_id(0) * 256 + arange(0, 256);
    let inside = at.lt(n);
    let v = load_masked(x + at, inside, 0.0) * 2.0;
    store_masked(x + at, inside);
}

fn main() {}
