use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn arrive() {
    let full = barrier(1);
    full[0].arrive();
}

fn main() {}
