use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn scale(p: Ptr<f32>) {
    let x = *p;
    *p = x * 2.0;
    p[1] = x;
    let y = p[2];
}

fn main() {}
