use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn ahead(x: Ptr<f32>) {
    bulk::prefetch(x, 128);
}

fn main() {}
