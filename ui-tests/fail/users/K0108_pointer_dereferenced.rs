use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn bump(counter: Ptr<i32>) {
    *counter = *counter + 1;
}

fn main() {}
