use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel() {
    let done = barriers(2, 1);
    tcgen05::commit(done);
}

fn main() {}
