use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(n, 128))]
pub fn clip(x: Ptr<f32>, n: i32, verbose: bool) {
    let i = block_id(0) * 128 + arange(0, 128);
    if verbose && i.lt(n) {
        store(x + i, load(x + i) * 2.0);
    }
}

fn main() {}
