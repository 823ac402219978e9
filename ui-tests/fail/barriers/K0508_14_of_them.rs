use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn meet() {
    let turns = array(14, |_| named_barrier(6));
    warp_specialize(|| turns[0].sync(), [partition(2).run(|| turns[0].arrive())]);
}

fn main() {}
