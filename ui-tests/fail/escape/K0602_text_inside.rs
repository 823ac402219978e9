//! A device function touches memory with `ptx!`, which nothing in the kernel shows.

use kiln::prelude::*;

#[device]
fn mark(at: i64) {
    ptx!("st.global.u32 [{at}], 1;", at = at);
}

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn k(x: TensorMut<i32, 1>) {
    mark(64);
    x.tile([0], [32]).store(arange(0, 32));
}

fn main() {}
