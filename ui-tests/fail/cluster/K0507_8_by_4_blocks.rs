use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, cluster = [8, 4])]
pub fn meet() {
    cluster::sync();
}

fn main() {}
