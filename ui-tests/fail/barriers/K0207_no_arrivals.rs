use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn wait() {
    let full = barrier(0);
    full.wait(0);
}

fn main() {}
