use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, cluster = 2)]
pub fn meet() {
    cluster::synch();
}

fn main() {}
