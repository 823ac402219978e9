use kiln::prelude::*;

#[kernel(target = sm_80, warps = 8, grid = cdiv(n, 256))]
pub fn scale(x: Ptr<f32>, y: Ptr<f32>, n: i32) {
    let i = block_id(0) * 256 + arange(0, 256);
    let v = load_masked(x + i, i.lt(n), 0.0);
    if v.gt(0.0) {
        let v = load(x + i) * 2.0;
        store(y + i, v);
    }
    store_masked(y + i, i.lt(n), v);
}

fn main() {}
