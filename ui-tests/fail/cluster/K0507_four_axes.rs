use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, cluster = [2, 1, 1, 1])]
pub fn meet() {
    cluster::sync();
}

fn main() {}
