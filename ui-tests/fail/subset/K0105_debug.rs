use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, debug = true)]
pub fn show(n: i32) {
    println!("{n}");
}

fn main() {}
