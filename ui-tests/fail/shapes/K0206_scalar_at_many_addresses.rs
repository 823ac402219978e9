use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn clear(p: Ptr<f32>, n: i32) {
    let at = p + arange(0, 128);
    store(at, 0.0);
    atomic::add(at, 1.0);
    store_masked(at, n > 0, zeros([128]));
}

fn main() {}
