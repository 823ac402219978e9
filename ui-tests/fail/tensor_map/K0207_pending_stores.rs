use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn wait() {
    tma::store_wait(64);
}

fn main() {}
