use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn meet() {
    let both = named_barrier(8);
    warp_specialize(|| both.sync(), [partition(2).run(|| both.arrive())]);
}

fn main() {}
