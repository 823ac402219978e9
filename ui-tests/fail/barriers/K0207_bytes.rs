use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn wait() {
    let full = barrier(1);
    full.expect(1 << 20);
    full.wait(0);
}

fn main() {}
