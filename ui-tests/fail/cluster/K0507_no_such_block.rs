use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, cluster = 2)]
pub fn arrive() {
    let empty = barrier(1);
    empty.of_block(2).arrive();
    cluster::sync();
}

fn main() {}
