use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn meet(n: i32) {
    for _ in 0..n {
        named_barrier(4).sync();
    }
}

fn main() {}
