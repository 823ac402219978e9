use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn show(n: i32, x: Tensor<f32, 1>) {
    println!("{} of {}", n);
    println!("{n}", n, 2);
    assert!(n > 0, "{2}", n);
}

fn main() {}
