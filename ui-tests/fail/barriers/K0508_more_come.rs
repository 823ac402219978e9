use kiln::prelude::*;

#[kernel(target = sm_80, warps = 8)]
pub fn meet() {
    let both = named_barrier(6);
    warp_specialize(|| both.sync(), [partition(2).run(|| both.arrive())]);
}

fn main() {}
