//! Rust compares with the constant that `use` brings; a kernel would declare a new name.

use codes::two;
use kiln::prelude::*;

#[device]
mod codes {
    #[expect(non_upper_case_globals, reason = "a name in lower case is also a constant's")]
    pub const two: i32 = 2;
}

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn k(x: i32, out: TensorMut<i32, 1>) {
    let one = match x {
        two => 20,
        other => other,
    };
    out.tile([0], [128]).store(full([128], one));
}

#[device]
fn chosen(x: i32) -> i32 {
    match x {
        1 | two => 20,
        other => other,
    }
}

fn main() {}
