use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn fetch(x: Ptr<f32>) {
    let row = shared::<f32>([128]);
    bulk::reduce_ad(x, row);
}

fn main() {}
