use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, cluster = 2)]
pub fn signal() {
    let empty = barrier(1);
    empty.arrive_relaxed();
    empty.wait(0);
    cluster::sync();
}

fn main() {}
