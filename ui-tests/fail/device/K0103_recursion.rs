//! Functions of a device module that call one another.

use kiln::prelude::*;

#[device]
mod parity {
    pub fn even(x: i32) -> i32 {
        odd(x - 1)
    }

    fn odd(x: i32) -> i32 {
        even(x - 1)
    }
}

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn k(x: TensorMut<i32, 1>) {
    let window = x.tile([0], [64]);
    window.store(window.load() + parity::even(3));
}

fn main() {}
