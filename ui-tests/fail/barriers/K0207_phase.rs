use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn wait() {
    let full = barrier(1);
    full.arrive();
    full.wait(2);
}

fn main() {}
