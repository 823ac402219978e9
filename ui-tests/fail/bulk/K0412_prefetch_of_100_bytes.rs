use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn ahead(x: Ptr<f32>) {
    bulk::prefetch(x, 100);
}

fn main() {}
