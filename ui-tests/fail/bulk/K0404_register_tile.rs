use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn clear(x: Ptr<f32>) {
    bulk::store(x, zeros::<f32>([128]));
    tma::store_wait(0);
}

fn main() {}
