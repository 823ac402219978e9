use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn phases(n: i32) {
    stamp!();
    stamp!("");
    stamp!(n);
    stamp!("step {n}", n);
    stamps!("product");
}

fn main() {}
