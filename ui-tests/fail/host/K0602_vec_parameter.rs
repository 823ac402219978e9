use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn clear(x: Vec<f32>) {
    sync();
}

fn main() {}
