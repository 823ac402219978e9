use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn clear(x: &mut [f32]) {
    x.fill(0.0);
}

fn main() {}
