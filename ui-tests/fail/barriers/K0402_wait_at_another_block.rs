use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, cluster = 2)]
pub fn wait() {
    let full = barrier(1);
    full.of_block(0).wait(0);
    cluster::sync();
}

fn main() {}
