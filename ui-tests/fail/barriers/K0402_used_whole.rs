use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn arrive() {
    let full = barriers(3, 1);
    full.arrive();
}

fn main() {}
