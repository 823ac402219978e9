use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn meet() {
    named_barrier(4).wait(0);
}

fn main() {}
