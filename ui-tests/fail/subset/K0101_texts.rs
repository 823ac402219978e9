use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn show(n: i32, width: i32) {
    println!("{:q}", n);
    println!("{:width$}", n);
    println!("{n");
    println!(n);
    assert!(n > 0, n);
    assert_eq!(n);
    assert!();
}

fn main() {}
