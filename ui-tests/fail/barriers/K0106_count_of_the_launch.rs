use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn arrive(n: i32) {
    let full = barrier(n);
    full.arrive();
}

fn main() {}
