use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn write(p: Ptr<f32>, n: i32) {
    store(p, 1);
    atomic::add(p, n);
    store(p + 1.0, 2.0);
}

fn main() {}
