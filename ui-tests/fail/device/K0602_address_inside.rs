//! A device function takes the address of a tensor, which nothing in the kernel shows.

use kiln::prelude::*;

#[device]
fn start_of(x: TensorMut<i32, 1>) -> Ptr<i32> {
    x.ptr()
}

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn k(x: TensorMut<i32, 1>) {
    store(start_of(x) + arange(0, 32), arange(0, 32));
}

fn main() {}
