use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn fetch(x: Ptr<f32>) {
    let row = shared::<f32>([128]);
    let full = barrier(1);
    full.expect(256);
    bulk::load(x, full, row);
    full.wait(0);
}

fn main() {}
