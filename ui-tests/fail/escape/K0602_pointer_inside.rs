//! A device function makes a pointer of a number with `ptx!`, which nothing in the kernel shows.

use kiln::prelude::*;

#[device]
fn at(address: u64) -> Ptr<i32> {
    ptx!("mov.b64 {out}, {address};", address = address => Ptr<i32>)
}

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn k(x: TensorMut<i32, 1>) {
    let first = load(at(64));
    x.tile([0], [32]).store(arange(0, 32) + first);
}

fn main() {}
