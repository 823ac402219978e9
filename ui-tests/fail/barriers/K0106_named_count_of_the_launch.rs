use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn meet(n: i32) {
    named_barrier(n).sync();
}

fn main() {}
