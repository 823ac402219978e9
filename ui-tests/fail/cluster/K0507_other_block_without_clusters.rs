use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn arrive() {
    let empty = barrier(1);
    empty.of_block(0).arrive();
    empty.wait(0);
}

fn main() {}
